import { OutputError, UsageError } from '../errors.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where Ray's dashboard, and with it the Jobs API, listens on the machine of the head. */
export const DEFAULT_RAY_ADDRESS = 'http://127.0.0.1:8265';

const HINT = 'Give the address of the dashboard of the head, such as --ray-address http://head:8265.';

/** Where the Jobs API of a cluster is. */
export interface RayAddress {
  /** Ends with a slash; places of the API are relative to it. */
  url: URL;
  /** As messages have it. */
  text: string;
  /** What is sent can be read on the way: there is no TLS, and it leaves this machine. */
  isOpen: boolean;
}

/**
 * The address that was asked for, else the one that the plan was submitted to, else `RAY_API_SERVER_ADDRESS` or
 * `RAY_ADDRESS`, else this machine's.
 *
 * @throws {UsageError} when it is not one of the Jobs API.
 */
export function resolveRayAddress(asked: unknown, earlier: unknown, environment: Environment): RayAddress {
  if (typeof asked === 'string') return parseRayAddress(asked, '--ray-address');
  if (typeof earlier === 'string') return parseRayAddress(earlier, 'the address in engine.json');
  // The first is what Ray's own `ray job` asks first: inside a cluster the other one is no HTTP address.
  for (const name of ['RAY_API_SERVER_ADDRESS', 'RAY_ADDRESS']) {
    const set = environment[name]?.trim() ?? '';
    if (set !== '') return parseRayAddress(set, name);
  }
  return parseRayAddress(DEFAULT_RAY_ADDRESS, 'the default');
}

/**
 * Reads the http or https address of a Jobs API; a path is that of a gateway.
 *
 * @param source where it was given, for errors
 * @throws {UsageError} when it is another kind of address, or holds a secret.
 */
export function parseRayAddress(text: string, source: string): RayAddress {
  const cannot = (why: string): UsageError =>
    new UsageError(`Cannot use ${source} for Ray jobs: ${why}`, { hint: HINT });
  if (/^ray:\/\//iu.test(text)) throw cannot('it is an address of Ray Client (ray://), and jobs are sent over HTTP');
  if (text === 'auto' || text === 'local')
    throw cannot(`"${text}" is for Python programs, and jobs are sent over HTTP`);
  if (!/^https?:\/\//iu.test(text)) throw cannot('it does not begin with http:// or https://');
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The cause would repeat the address, which may hold a password.
    throw cannot('it is no address');
  }
  if (url.username !== '' || url.password !== '') throw cannot('it holds a user name or a password');
  if (url.search !== '' || url.hash !== '') throw cannot('it has more than a host, a port and a path');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  const isOpen = url.protocol === 'http:' && !isThisMachine(url.hostname);
  return { url, text: url.href.slice(0, -1), isOpen };
}

/** The error of an address that leads elsewhere. */
export function redirected(address: RayAddress, location: string | undefined): OutputError {
  let target = '';
  if (location !== undefined && URL.canParse(location, address.url.href)) {
    target = ` to ${new URL(location, address.url).origin}`;
  }
  return new OutputError(`Ray at ${address.text} sends requests on${target}`, {
    hint: 'The token is sent to no other address than the one given: give the one that answers itself.',
  });
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/u.test(host);
}
