import { describe, expect, it } from 'vitest';
import { parseRayAddress, redirected, resolveRayAddress } from '#cutroom/cluster/ray-address.js';
import { UsageError } from '#cutroom/errors.js';

describe('parseRayAddress()', () => {
  it('takes http and https with a port and the path of a gateway', () => {
    expect(parseRayAddress('http://head:8265', 'it').url.href).toBe('http://head:8265/');
    const gateway = parseRayAddress('https://gate.example/ray/one', 'it');
    expect(new URL('api/jobs/', gateway.url).href).toBe('https://gate.example/ray/one/api/jobs/');
    expect(gateway.text).toBe('https://gate.example/ray/one');
  });

  it.each([
    ['ray://head:10001', 'Ray Client'],
    ['head:8265', 'does not begin with http'],
    ['10.0.0.1:6379', 'does not begin with http'],
    ['auto', 'for Python programs'],
    ['http://', 'no address'],
    ['http://head:8265/?key=hidden', 'more than a host'],
  ])('refuses %s', (text, why) => {
    expect(() => parseRayAddress(text, 'RAY_ADDRESS')).toThrow(UsageError);
    expect(() => parseRayAddress(text, 'RAY_ADDRESS')).toThrow(why);
  });

  it('never repeats a password that an address holds', () => {
    for (const text of ['http://me:hidden@head:8265', 'http://me:hidden@[head', 'me:hidden@head', 'ray://:hidden@h']) {
      let message = '';
      try {
        parseRayAddress(text, 'RAY_ADDRESS');
      } catch (error) {
        message = String((error as Error).stack) + String((error as Error).cause);
      }
      expect(message).toContain('Cannot use RAY_ADDRESS');
      expect(message).not.toContain('hidden');
    }
  });

  it('knows what leaves this machine in the open', () => {
    const isOpen = (text: string): boolean => parseRayAddress(text, 'it').isOpen;
    for (const text of ['http://127.0.0.1:8265', 'http://localhost:1', 'http://[::1]:1', 'https://head']) {
      expect(isOpen(text), text).toBe(false);
    }
    for (const text of ['http://10.0.0.1:8265', 'http://head', 'http://127.example']) {
      expect(isOpen(text), text).toBe(true);
    }
  });
});

describe('resolveRayAddress()', () => {
  it('prefers what was asked for, then where the plan went, then the environment', () => {
    const environment = { RAY_ADDRESS: 'http://c:1', RAY_API_SERVER_ADDRESS: 'http://b:1' };
    const host = (...[asked, earlier, variables]: Parameters<typeof resolveRayAddress>): string =>
      resolveRayAddress(asked, earlier, variables).url.host;
    expect(host('http://a:1', 'http://e:1', environment)).toBe('a:1');
    expect(host(undefined, 'http://e:1', environment)).toBe('e:1');
    expect(host(undefined, undefined, environment)).toBe('b:1');
    expect(host(undefined, undefined, { RAY_ADDRESS: ' http://c:1 ' })).toBe('c:1');
    expect(host(undefined, undefined, { RAY_ADDRESS: '' })).toBe('127.0.0.1:8265');
  });
});

it('redirected() names the other machine and nothing that follows', () => {
  const address = parseRayAddress('http://head:8265', 'it');
  expect(redirected(address, 'https://login.example/?next=1').message).toBe(
    'Ray at http://head:8265 sends requests on to https://login.example',
  );
  expect(redirected(address, undefined).message).toBe('Ray at http://head:8265 sends requests on');
});
