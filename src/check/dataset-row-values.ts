import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';
import { textFaults } from './row-text.js';

/** Whose rows are looked at: what the loader makes of an empty text, and what it leaves out by default, differs. */
export type RowLayout = 'atdataset' | 'nemo';

interface RowPlace {
  file: string;
  line: number;
  id?: string | undefined;
}

const SHORTEST_SECONDS = 0.1;
const LONGEST_SECONDS: Readonly<Record<RowLayout, number>> = { atdataset: 60, nemo: 120 };
const EMPTY_TEXTS: Readonly<Record<RowLayout, string>> = {
  atdataset: 'the text is empty: ATdataset reads <|EMPTY|>',
  nemo: 'the text is empty',
};

/** Tells what a loader accepts of a row in a dataset and likely was not meant: as `check` does of a manifest alone. */
export function checkRowValues(
  row: Readonly<Record<string, unknown>>,
  layout: RowLayout,
  place: RowPlace,
  note: (finding: DatasetFinding) => void,
): void {
  const tell = (kind: DatasetKind, message: string): void => note({ kind, message, ...place });
  const { duration, text } = row;
  const seconds = typeof duration === 'number' ? duration : undefined;
  if (seconds !== undefined && seconds >= 0) {
    if (seconds < SHORTEST_SECONDS) {
      tell('short_duration', `duration is ${seconds} s, less than ${SHORTEST_SECONDS} s`);
    } else if (seconds > LONGEST_SECONDS[layout]) {
      tell('long_duration', `duration is ${seconds} s, more than ${LONGEST_SECONDS[layout]} s`);
    }
  }
  if (typeof text !== 'string') return;
  if (text.trim() === '') tell('empty_text', EMPTY_TEXTS[layout]);
  else for (const { kind, message } of textFaults(text, seconds)) tell(kind, message);
}
