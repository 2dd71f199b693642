import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, systemCode, UsageError } from '../errors.js';
import { Secret } from '../text/secret.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a token may come from. */
export const RAY_TOKEN_HINT =
  'Set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH to a file that holds the token, or keep it in ~/.ray/auth_token.';

/** Anything else would be refused by the HTTP client. */
const SENDABLE = /^[\x21-\x7e]+$/u;

/**
 * The token of a cluster, or undefined where there is none: looked for as Ray's own programs do, in `RAY_AUTH_TOKEN`, else in the file that
 * `RAY_AUTH_TOKEN_PATH` names, else in `~/.ray/auth_token`; none with `RAY_AUTH_MODE=disabled`.
 *
 * @throws {UsageError} when one that is there cannot be read or be a token.
 */
export async function resolveRayToken(environment: Environment, homeDir: string): Promise<Secret | undefined> {
  const { RAY_AUTH_TOKEN: token, RAY_AUTH_TOKEN_PATH: named, RAY_AUTH_MODE: mode } = environment;
  if (mode?.trim().toLowerCase() === 'disabled') return undefined;
  if (token !== undefined && token.trim() !== '') return checkToken(token, 'RAY_AUTH_TOKEN');
  if (named !== undefined && named.trim() !== '') {
    const file = named.startsWith('~/') ? path.join(homeDir, named.slice(2)) : named;
    const text = await readToken(file);
    if (text !== undefined) return checkToken(text, `"${file}"`);
    throw new UsageError(`Cannot read the token of Ray in "${file}": there is no such file`, { hint: RAY_TOKEN_HINT });
  }
  const file = path.join(homeDir, '.ray', 'auth_token');
  const text = await readToken(file);
  return text === undefined ? undefined : checkToken(text, `"${file}"`);
}

async function readToken(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new UsageError(`Cannot read the token of Ray in "${file}": ${errorMessage(error)}`, { hint: RAY_TOKEN_HINT });
  }
}

function checkToken(text: string, source: string): Secret {
  const value = text.trim();
  if (value === '')
    throw new UsageError(`Cannot use ${source} as a token of Ray: it is empty`, { hint: RAY_TOKEN_HINT });
  if (SENDABLE.test(value)) return new Secret(value, source);
  throw new UsageError(
    `Cannot use ${source} as a token of Ray: it holds spaces, line breaks or letters outside ASCII`,
    { hint: RAY_TOKEN_HINT },
  );
}
