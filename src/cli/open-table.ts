import { homedir } from 'node:os';
import { countWords } from '../count-words.js';
import type { ItemTable, TableLosses } from '../load/item-table.js';
import { openSources } from '../load/open-sources.js';
import type { Tokenizer } from '../text/types.js';
import type { CliContext } from './context.js';
import { count } from './cut-progress.js';
import type { LoadRequest } from './load-options.js';
import type { ProgressLine } from './progress-line.js';

/** What is opened, and how. */
export interface TableRequest extends LoadRequest {
  /** `words`, a path or a name on the Hub; undefined counts characters. */
  tokenizer: string | undefined;
  needsTokens: boolean;
}

const MAX_FAULTS = 5;
const WORDS = 'words';

/** Reads the manifests of sources, telling how far it is. */
export async function openTable(
  context: CliContext,
  { source, filters, configured, notices, tokenizer, needsTokens }: TableRequest,
  line: ProgressLine,
): Promise<ItemTable> {
  for (const notice of notices) line.note(`note: ${notice}`);
  const counter = tokenizer === undefined ? undefined : await openTokenizer(context, tokenizer, line);
  const table = await openSources(source, {
    filters,
    needsTokens,
    tokenizer: counter,
    textField: configured?.textField,
    signal: context.signal,
    onProgress: ({ lines, manifests, manifestCount }) =>
      line.show(
        () => `reading manifests: ${countWords(lines, 'line')}, ${count(manifests)} of ${count(manifestCount)} files`,
      ),
  });
  line.end();
  return table;
}

/** Opens what counts tokens, telling when it has to be fetched again. */
export async function openTokenizer(context: CliContext, name: string, line: ProgressLine): Promise<Tokenizer> {
  const { loadTokenizer } = await import('../text/tokenizer.js');
  return await loadTokenizer({
    path: name === WORDS ? undefined : name,
    environment: context.process.env,
    homeDir: homedir(),
    signal: context.signal,
    onEvent: (event) => {
      if (event.kind === 'retry')
        line.note(`warning: the tokenizer could not be fetched (${event.reason}); trying again`);
    },
  });
}

/** Rows that were refused as faulty, with the first places; undefined where there is none. */
export function formatFaults({ firstFaults }: TableLosses, isVerbose: boolean): string | undefined {
  if (firstFaults.length === 0) return undefined;
  const shown = isVerbose ? firstFaults : firstFaults.slice(0, MAX_FAULTS);
  return [
    'warning: rows are left out, as they are faulty; the first of them:',
    ...shown.flatMap(({ path, lineNumber, message, hint }) => [
      `  ${path}:${lineNumber}: ${message}`,
      ...(hint === undefined ? [] : [`    hint: ${hint}`]),
    ]),
  ].join('\n');
}
