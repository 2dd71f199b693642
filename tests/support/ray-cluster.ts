// A Ray of one node, for tests that run tasks on it.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { resolveRayAddress } from '#cutroom/cluster/ray-address.js';
import { RayClient } from '#cutroom/cluster/ray-client.js';
import { resolveRayToken } from '#cutroom/cluster/ray-token.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A cluster that is there: the one of `CUTROOM_RAY_ADDRESS`, or one that was brought up for the tests. */
export class RayCluster {
  /** Where its address and token are found. */
  readonly environment: Record<string, string>;
  /** Of one that belongs to the tests. */
  readonly #folder: string | undefined;

  private constructor(environment: Record<string, string>, folder: string | undefined) {
    this.environment = environment;
    this.#folder = folder;
  }

  /** Undefined where there is no Ray. */
  static async start(): Promise<RayCluster | undefined> {
    const {
      CUTROOM_RAY_ADDRESS: address,
      RAY_AUTH_TOKEN: token,
      RAY_AUTH_TOKEN_PATH: file,
      RAY_VENV: venv,
    } = process.env;
    if (address !== undefined) {
      const found = { RAY_ADDRESS: address, RAY_AUTH_TOKEN: token ?? '', RAY_AUTH_TOKEN_PATH: file ?? '' };
      return new RayCluster(found, undefined);
    }
    if (!existsSync(path.join(venv ?? path.join(ROOT, '.ray-venv'), 'bin', 'ray'))) return undefined;
    // Sockets lie in it, and their paths must be short.
    const folder = mkdtempSync('/tmp/cutroom-ray-');
    return new RayCluster(await bringUp(folder), folder);
  }

  /** Whether it can be restarted. */
  get isOwn(): boolean {
    return this.#folder !== undefined;
  }

  /** Ends the head and all jobs, and brings up one that knows nothing of them. */
  async restart(): Promise<void> {
    if (this.#folder !== undefined) await bringUp(this.#folder);
  }

  async stop(): Promise<void> {
    if (this.#folder !== undefined) await run(path.join(ROOT, 'scripts/ray-down.sh'), [this.#folder]);
  }

  async client(): Promise<RayClient> {
    return new RayClient({
      address: resolveRayAddress(undefined, undefined, this.environment),
      token: await resolveRayToken(this.environment, '/nowhere'),
      answerTimeoutMs: 30_000,
      signal: undefined,
    });
  }
}

async function bringUp(folder: string): Promise<Record<string, string>> {
  const { stdout } = await run(path.join(ROOT, 'scripts/ray-up.sh'), [folder], {
    env: { ...process.env, DASHBOARD_PORT: process.env['DASHBOARD_PORT'] ?? '8365' },
  });
  const lines = stdout.split('\n').map((line) => /^export (\w+)=(.*)$/u.exec(line));
  const { CUTROOM_RAY_ADDRESS: address = '', RAY_AUTH_TOKEN_PATH: file = '' } = Object.fromEntries(
    lines.flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? '']])),
  ) as Record<string, string>;
  return { RAY_ADDRESS: address, RAY_AUTH_TOKEN_PATH: file };
}
