/** So much of a log is kept: its end. */
export const LOG_TAIL_BYTES = 64 * 1024;

/** An escape takes up to 6 letters of JSON (`\u00e9`) for a letter. */
const RAW_LENGTH = LOG_TAIL_BYTES * 6;
const ESCAPE_LENGTH = 6;

/**
 * The end of the log in an answer `{"logs": "…"}`, in bounded memory however long it is; undefined where the log is empty.
 *
 * @throws {SyntaxError} when the answer is something else.
 */
export async function readLogTail(chunks: AsyncIterable<string>): Promise<string | undefined> {
  let raw = '';
  let isCut = false;
  for await (const chunk of chunks) {
    raw += chunk;
    if (raw.length <= 2 * RAW_LENGTH) continue;
    raw = raw.slice(-RAW_LENGTH);
    isCut = true;
  }
  const log = isCut ? parseEnd(raw) : parseWhole(raw);
  const bytes = Buffer.from(log);
  if (bytes.length <= LOG_TAIL_BYTES) return log === '' ? undefined : log;
  // From the beginning of a line, if there is one in time.
  const tail = bytes.subarray(-LOG_TAIL_BYTES);
  return tail.subarray(tail.indexOf('\n') + 1).toString('utf8');
}

function parseWhole(raw: string): string {
  const answer = JSON.parse(raw) as { logs?: unknown } | null;
  if (typeof answer?.logs !== 'string') throw new SyntaxError('there is no log in it');
  return answer.logs;
}

/** Begins behind so many letters without a backslash that no escape can reach over them. */
function parseEnd(raw: string): string {
  const start = new RegExp(`[^\\\\]{${ESCAPE_LENGTH}}`, 'u').exec(raw);
  const end = raw.lastIndexOf('"');
  if (start === null || end < start.index + ESCAPE_LENGTH) throw new SyntaxError('there is no log in it');
  return JSON.parse(`"${raw.slice(start.index + ESCAPE_LENGTH, end)}"`) as string;
}
