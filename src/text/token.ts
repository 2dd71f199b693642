import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError, errorMessage, systemCode } from '../errors.js';
import { type Environment, expandHome, huggingFaceHome, nonEmpty } from './hub-cache.js';
import { Secret } from './secret.js';

export interface TokenSources {
  /** The token itself; wins over everything else. */
  token?: string | undefined;
  /** A file that holds it; wins over the environment. */
  tokenFile?: string | undefined;
  environment: Environment;
  homeDir: string;
}

/**
 * The access token for the Hub, or undefined where there is none: the one given, else the one in the file given, else `HF_TOKEN`
 * (or its old name `HUGGING_FACE_HUB_TOKEN`), else what `hf auth login` left in `HF_TOKEN_PATH` or in `token` in the home of Hugging Face.
 *
 * @throws UsageError when a token that was named cannot be read or cannot be one.
 */
export async function resolveToken(sources: TokenSources): Promise<Secret | undefined> {
  const { environment, homeDir } = sources;
  if (sources.token !== undefined) return checkToken(sources.token, 'the token given');
  if (sources.tokenFile !== undefined) {
    const path = expandHome(sources.tokenFile, homeDir);
    const content = await readTokenFile(path);
    if (content === undefined) {
      throw new UsageError(`Cannot read the access token in "${path}": there is no such file`, { hint: FILE_HINT });
    }
    return checkToken(content, `"${path}"`);
  }
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const value = nonEmpty(environment[name]?.trim());
    if (value !== undefined) return checkToken(value, name);
  }
  const path = nonEmpty(environment['HF_TOKEN_PATH']) ?? join(huggingFaceHome(environment, homeDir), 'token');
  const content = await readTokenFile(expandHome(path, homeDir));
  return nonEmpty(content?.trim()) === undefined ? undefined : checkToken(content!, `"${path}"`);
}

const FILE_HINT = 'The file must hold the token and nothing else, readable by you.';

async function readTokenFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new UsageError(`Cannot read the access token in "${path}": ${errorMessage(error)}`, { hint: FILE_HINT });
  }
}

/** Anything else would be refused by the HTTP client, with the token in its message. */
const SENDABLE = /^[\x21-\x7e]+$/;

function checkToken(text: string, source: string): Secret {
  const value = text.trim();
  if (value === '') throw new UsageError(`Cannot use ${source} as an access token: it is empty`, { hint: FILE_HINT });
  if (!SENDABLE.test(value)) {
    throw new UsageError(
      `Cannot use ${source} as an access token: it holds spaces, line breaks or non-ASCII characters`,
      {
        hint: 'A token is one word, without quotes and with nothing else in its file.',
      },
    );
  }
  return new Secret(value, source);
}
