import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, EngineRecord } from '#cutroom/cluster/engine.js';
import type { PlanFolder } from '#cutroom/cluster/plan-folder.js';
import { createEngine, type RayEngineOptions } from '#cutroom/cluster/ray-engine.js';
import { CanceledError, OutputError } from '#cutroom/errors.js';
import { RayApi } from '../support/ray-api.js';

const TOKEN = 'token-of-32-letters-and-more-0123456789';

let api: RayApi;
let folder: string;
let notes: string[];

beforeEach(async () => {
  api = await RayApi.start(TOKEN);
  notes = [];
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-ray-'));
  for (const name of ['states', 'logs']) mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, 'plan.json'), '{}');
});
afterEach(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

function planOf(tasks = 5): PlanFolder {
  return { folder, record: { hash: 'ab'.repeat(32), tasks }, plan: {} } as unknown as PlanFolder;
}

function recordOf(changes: Partial<EngineRecord> = {}): EngineRecord {
  return {
    engine: 'ray',
    options: { rayAddress: api.address, cpusPerTask: 2 },
    retries: 2,
    maxRunning: null,
    workerCommand: ['/opt/node', "/it's/main.js"],
    remoteFolder: '/mnt/plan',
    facts: {},
    ...changes,
  };
}

function engineOf(
  options: RayEngineOptions = {},
  environment: Record<string, string> = { RAY_AUTH_TOKEN: TOKEN },
): Engine {
  return createEngine(environment, {
    onNote: (note) => notes.push(note),
    firstPauseMs: 1,
    homeDir: folder,
    ...options,
  });
}

const ALL = [0, 1, 2, 3, 4];

describe('submit()', () => {
  it('makes a job of each task, and attaches to those that are there', async () => {
    const record = await engineOf().submit(planOf(), recordOf(), ALL, 0);
    expect(api.jobs.size).toBe(5);
    const prefix = String(record.facts['jobPrefix']);
    expect(api.jobs.get(`${prefix}-3-0`)?.body).toEqual({
      submission_id: `${prefix}-3-0`,
      entrypoint: String.raw`exec /opt/node '/it'\''s/main.js' run /mnt/plan --task 3 --jobs 2 --wait`,
      entrypoint_num_cpus: 2,
      runtime_env: { env_vars: { CUTROOM_JOB: `${prefix}-3-0` } },
      metadata: { cutroom_plan: 'ab'.repeat(32), cutroom_task: '3' },
    });
    const again = engineOf();
    expect(await again.submit(planOf(), record, ALL, 0)).toBe(record);
    expect(api.count('POST', '/api/jobs/')).toBe(5);
    // What a record says of the address holds where none is given.
    const { facts } = record;
    expect((await again.look(planOf(), recordOf({ options: {}, facts }), ALL)).size).toBe(5);
  });

  it('makes one job a task of two launchers at once', async () => {
    const engines = [engineOf(), engineOf()];
    await Promise.all(engines.map(async (engine) => await engine.look(planOf(), recordOf(), ALL)));
    await Promise.all(engines.map(async (engine) => await engine.submit(planOf(), recordOf(), ALL, 0)));
    expect(api.count('POST', '/api/jobs/')).toBe(10);
    expect(api.jobs.size).toBe(5);
  });

  it('hands in no more than may run at once, and others as these end', async () => {
    const engine = engineOf();
    const record = await engine.submit(planOf(), recordOf({ maxRunning: 2 }), ALL, 0);
    await engine.submit(planOf(), record, [2, 3, 4], 0);
    expect(api.jobs.size).toBe(2);
    api.set(api.idOf(0), { status: 'SUCCEEDED' });
    expect((await engine.look(planOf(), record, ALL)).size).toBe(2);
    await engine.submit(planOf(), record, [2, 3, 4], 0);
    expect([...api.jobs.keys()].map((id) => id.split('-').at(-2))).toEqual(['0', '1', '2']);
  });

  it('tells nothing of an earlier job of a task that waits for room', async () => {
    const engine = engineOf();
    const record = recordOf({ maxRunning: 2 });
    await engine.submit(planOf(), record, ALL, 0);
    api.set(api.idOf(0), { status: 'FAILED' });
    expect((await engine.look(planOf(), record, ALL)).get(0)?.state).toBe('failed');
    await engine.submit(planOf(), record, [2, 0], 1);
    expect([...(await engine.look(planOf(), record, ALL)).keys()]).toEqual([1, 2]);
    api.set(api.idOf(1), { status: 'SUCCEEDED' });
    await engine.look(planOf(), record, ALL);
    await engine.submit(planOf(), record, [0, 3], 1);
    expect((await engine.look(planOf(), record, ALL)).get(0)).toMatchObject({ id: api.idOf(0), state: 'queued' });
    expect(api.idOf(0)).toMatch(/-0-1$/u);
  });

  it('lets a limited number wait where nothing else limits them', async () => {
    const tasks = Array.from({ length: 130 }, (_, task) => task);
    const engine = engineOf();
    await engine.submit(planOf(130), recordOf(), tasks, 0);
    expect(api.jobs.size).toBe(64);
    for (const job of api.jobs.values()) job.status = 'RUNNING';
    await engine.look(planOf(130), recordOf(), tasks);
    await engine.submit(planOf(130), recordOf(), tasks.slice(64), 0);
    expect(api.jobs.size).toBe(128);
  });

  it('submits a task that failed under another name', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    api.set(api.idOf(1), { status: 'FAILED' });
    await engine.look(planOf(), recordOf(), ALL);
    await engine.submit(planOf(), recordOf(), [1], 1);
    expect(api.idOf(1)).toMatch(/-1-1$/u);
  });

  it('takes a plan that was made anew for another one', async () => {
    await engineOf().submit(planOf(), recordOf(), ALL, 0);
    for (const job of api.jobs.values()) job.status = 'SUCCEEDED';
    utimesSync(path.join(folder, 'plan.json'), 1_000, 1_000);
    expect(await engineOf().look(planOf(), recordOf(), ALL)).toEqual(new Map());
  });

  it('says in the words of Ray what it refuses for good', async () => {
    api.trouble = ({ method }, response) => {
      if (method === 'GET') return false;
      response
        .writeHead(500)
        .end('Traceback:\nRuntimeError: Request failed with status code 400: T\nValueError: no such label\n.\n');
      return true;
    };
    await expect(engineOf().submit(planOf(), recordOf(), ALL, 0)).rejects.toThrow(
      'answers 500: ValueError: no such label',
    );
  });
});

describe('look()', () => {
  it('says what each job does, by one call', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    api.set(api.idOf(0), { status: 'RUNNING' });
    api.set(api.idOf(1), { status: 'SUCCEEDED' });
    api.set(api.idOf(2), { status: 'STOPPED' });
    api.set(api.idOf(3), {
      status: 'FAILED',
      message: 'Job entrypoint command failed with exit code 2, last available logs (x):\n',
    });
    api.calls.length = 0;
    const jobs = await engine.look(planOf(), recordOf(), ALL);
    expect([...jobs].map(([task, { state, reason }]) => [task, state, reason])).toEqual([
      [0, 'running', undefined],
      [1, 'ended', undefined],
      [3, 'failed', 'Job entrypoint command failed with exit code 2'],
      [4, 'queued', 'it may be waiting for resources'],
    ]);
    expect(api.count('GET', '/api/jobs/')).toBe(1);
  });

  it('misses jobs that a head forgot, which are then submitted anew', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    api.jobs.clear();
    expect((await engine.look(planOf(), recordOf(), ALL)).size).toBe(0);
    await engine.submit(planOf(), recordOf(), ALL, 0);
    expect(api.jobs.size).toBe(5);
  });

  it('tells once of jobs that Ray gave up before they began, and misses them', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    for (const job of api.jobs.values()) {
      Object.assign(job, {
        status: 'FAILED',
        error_type: 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT',
        message: 'not within 900 s',
      });
    }
    expect((await engine.look(planOf(), recordOf(), ALL)).size).toBe(0);
    expect(notes).toEqual([expect.stringContaining('not within 900 s')]);
  });

  it('keeps the logs of failed jobs beside the plan', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    const id = api.idOf(1);
    const said = `10:00 INFO job_manager.py:581 -- Runtime env is setting up.\nsh: node: not found ${TOKEN}\n`;
    api.set(id, { status: 'FAILED', logs: `${said}Running entrypoint for job ${id}: exec node\n` });
    await engine.look(planOf(), recordOf(), ALL);
    await engine.look(planOf(), recordOf(), ALL);
    expect(api.count('GET', `/api/jobs/${id}/logs`)).toBe(1);
    expect(readFileSync(path.join(folder, 'logs', '00001.log'), 'utf8')).toContain('sh: node: not found [secret]');
    expect(await engine.log(planOf(), recordOf(), 1)).toBe('sh: node: not found [secret]\n');
    expect(await engine.log(planOf(), recordOf(), 2)).toBeUndefined();
    expect(await engine.log(planOf(), recordOf(), 77)).toBeUndefined();
  });

  it('says once that a log cannot be kept', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    for (const task of ALL) api.set(api.idOf(task), { status: 'FAILED' });
    api.trouble = ({ url = '' }, response) => {
      if (!url.endsWith('/logs')) return false;
      response.writeHead(500).end('the node is gone');
      return true;
    };
    expect((await engine.look(planOf(), recordOf(), ALL)).size).toBe(5);
    expect(notes).toEqual([expect.stringContaining('cannot be kept: Ray at ')]);
    expect(await engine.log(planOf(), recordOf(), 1)).toBeUndefined();
  });
});

describe('cancel()', () => {
  it('stops what is not over, and counts it', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    api.set(api.idOf(0), { status: 'SUCCEEDED' });
    api.set(api.idOf(1), { status: 'RUNNING' });
    expect(await engineOf().cancel(planOf(), recordOf())).toBe(4);
    expect([...api.jobs.values()].map(({ status }) => status)).toEqual(['SUCCEEDED', ...Array(4).fill('STOPPED')]);
    expect(await engine.cancel(planOf(), recordOf())).toBe(0);
  });
});

describe('a head that does not answer', () => {
  it('is asked again while the watch goes on with what it said last', async () => {
    const engine = engineOf();
    const record = await engine.submit(planOf(), recordOf({ maxRunning: 2 }), ALL, 0);
    await engine.look(planOf(), record, ALL);
    const { port } = api;
    await api.stop();
    for (let looks = 0; looks < 3; looks += 1) {
      expect((await engine.look(planOf(), record, ALL)).size).toBe(2);
      expect(await engine.submit(planOf(), record, [2, 3, 4], 0)).toBe(record);
      await pause(5);
    }
    expect(notes).toEqual([expect.stringMatching(/^Cannot reach Ray at .*ECONNREFUSED.*the watch goes on/u)]);
    await api.listen(port);
    await pause(20);
    await engine.look(planOf(), record, ALL);
    expect(notes[1]).toMatch(/^Ray answers again, after \d+ s$/u);
    expect(notes).toHaveLength(2);
  });

  it('is given up in the end', async () => {
    const engine = engineOf({ patienceMs: 10 });
    await engine.submit(planOf(), recordOf(), ALL, 0);
    await engine.look(planOf(), recordOf(), ALL);
    const record = recordOf();
    await api.stop();
    await engine.look(planOf(), record, ALL);
    await pause(20);
    const error = await failureOf(engine.look(planOf(), record, ALL));
    expect(error.message).toMatch(/ECONNREFUSED.*it has been so for 0 s/u);
    expect(error.hint).toContain('Jobs may go on');
  });

  it('is asked a few times at first, and by a command that cancels', async () => {
    let refusals = 2;
    api.trouble = (_, response) => {
      if (refusals <= 0) return false;
      refusals -= 1;
      response.writeHead(503).end('<html>gateway</html>');
      return true;
    };
    expect((await engineOf().look(planOf(), recordOf(), ALL)).size).toBe(0);
    refusals = 99;
    const error = await failureOf(engineOf().cancel(planOf(), recordOf()));
    expect(error.message).toBe(`Ray at ${api.address} answers 503`);
    expect(error.hint).toContain('--ray-address');
    expect(refusals).toBe(95);
  });

  it('is not waited for without end, and not when the watch is stopped', async () => {
    api.trouble = () => true;
    const slow = await failureOf(engineOf({ answerTimeoutMs: 20 }).look(planOf(), recordOf(), ALL));
    expect(slow.message).toContain('no whole answer within 0.02 s');
    const stop = new AbortController();
    const looking = engineOf({ signal: stop.signal }).look(planOf(), recordOf(), ALL);
    await pause(20);
    stop.abort(new Error('Ctrl-C'));
    await expect(looking).rejects.toThrow(CanceledError);
  });

  it('may be slow, and break off in the middle', async () => {
    const engine = engineOf();
    await engine.submit(planOf(), recordOf(), ALL, 0);
    await engine.look(planOf(), recordOf(), ALL);
    api.trouble = (_, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('[{"submission_id":');
      setTimeout(() => response.destroy(), 5);
      return true;
    };
    expect((await engine.look(planOf(), recordOf(), ALL)).size).toBe(5);
    expect(notes[0]).toContain('the watch goes on');
  });
});

describe('answers that help nobody', () => {
  it.each([
    ['no token', {}, /answers 401: Unauthorized.*; no token was found to send$/u],
    ['another token', { RAY_AUTH_TOKEN: 'other' }, /answers 403: Forbidden.*; the token of RAY_AUTH_TOKEN was sent$/u],
  ])('%s', async (_, environment: Record<string, string>, message) => {
    const error = await failureOf(engineOf({}, environment).look(planOf(), recordOf(), ALL));
    expect(error.message).toMatch(message);
    expect(error.hint).toContain('~/.ray/auth_token');
    expect(api.calls).toHaveLength(1);
  });

  it('a server that is none of Ray', async () => {
    const look = async (): Promise<OutputError> => await failureOf(engineOf().look(planOf(), recordOf(), ALL));
    api.trouble = (_, response) => {
      response.end('<html>hello</html>');
      return true;
    };
    expect((await look()).message).toContain('something other than the Jobs API of Ray');
    api.trouble = (_, response) => {
      response.writeHead(404).end();
      return true;
    };
    expect((await look()).message).toContain('There is no Jobs API at');
  });

  it('a server without TLS where https was said', async () => {
    const rayAddress = `https://127.0.0.1:${api.port}`;
    const error = await failureOf(engineOf().look(planOf(), recordOf({ options: { rayAddress } }), ALL));
    expect(error.message).toBe(`Cannot reach Ray at ${rayAddress}: it answers without TLS`);
    expect(error.hint).toContain('See that http or https is right');
  });

  it('a redirect is not followed', async () => {
    const other = await RayApi.start();
    api.trouble = (_, response) => {
      response.writeHead(302, { location: `${other.address}/login` }).end();
      return true;
    };
    expect((await failureOf(engineOf().look(planOf(), recordOf(), ALL))).message).toContain(`on to ${other.address}`);
    expect(other.calls).toEqual([]);
    await other.stop();
  });

  it('an address without TLS on another machine is told once', async () => {
    const engine = engineOf();
    const record = recordOf({ options: { rayAddress: `http://0.0.0.0:${api.port}` } });
    await engine.look(planOf(), record, ALL);
    await engine.look(planOf(), record, ALL);
    expect(notes).toEqual([expect.stringContaining('without TLS commands and the token can be read on the way')]);
  });
});

it('the token never shows, whatever goes wrong', async () => {
  const tokens = fc.string({ unit: fc.constantFrom(...'abcXYZ019+/=.-_~%&$'.split('')), minLength: 16, maxLength: 48 });
  const bodies = fc.constantFrom(
    '',
    '[',
    '[{',
    '{"logs": 1}',
    '<html>',
    'Traceback\nError: ',
    '[{"submission_id":"x"} ',
  );
  const statuses = fc.constantFrom(200, 200, 302, 400, 401, 403, 404, 409, 429, 500, 503, -1);
  const calls = fc.array(fc.constantFrom('submit', 'look', 'cancel', 'log'), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(tokens, bodies, statuses, calls, async (token, body, status, names) => {
      const shown: unknown[] = [];
      const engine = createEngine(
        { RAY_AUTH_TOKEN: token },
        { onNote: (note) => shown.push(note), firstPauseMs: 0, patienceMs: 0, homeDir: folder, answerTimeoutMs: 500 },
      );
      // Repeats what it was sent, as servers in debugging modes do.
      api.trouble = ({ headers, socket }, response) => {
        if (status === -1) socket.destroy();
        else {
          const location = `http://127.0.0.1:1/?t=${encodeURIComponent(token)}`;
          response.writeHead(status, { location }).end(`${body}${headers.authorization ?? ''}\n`);
        }
        return true;
      };
      for (const name of names) {
        try {
          if (name === 'submit') shown.push(await engine.submit(planOf(), recordOf(), ALL, 0));
          else if (name === 'look') shown.push(await engine.look(planOf(), recordOf(), ALL));
          else if (name === 'cancel') shown.push(await engine.cancel(planOf(), recordOf()));
          else shown.push(await engine.log(planOf(), recordOf(), 0));
        } catch (error) {
          shown.push(error, (error as Error).stack, (error as OutputError).hint);
        }
      }
      expect(inspect(shown, { depth: Infinity, showHidden: true, maxStringLength: null })).not.toContain(token);
    }),
    { numRuns: 25 },
  );
  expect(existsSync(path.join(folder, 'logs', '00000.log'))).toBe(false);
});

async function failureOf(call: Promise<unknown>): Promise<OutputError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutputError);
  return error as OutputError;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
