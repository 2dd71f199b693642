import { statSync } from 'node:fs';
import { quote, type ManifestReport } from './manifest-report.js';
import type { ScannedRow } from './scanned-row.js';

/** Whether the file that holds a row's text is there. NeMo takes its path from the working folder, not from that of the manifest. */
export function checkTextFile(row: ScannedRow, line: number, report: ManifestReport): boolean {
  const filePath = row.string('text_filepath');
  if (filePath === undefined || filePath === '') {
    report.add('bad_text', line, `text_filepath is ${quote(row.raw('text_filepath') ?? '')}, not a path`);
    return false;
  }
  const facts = statSync(filePath, { throwIfNoEntry: false });
  if (facts?.isFile() !== true) {
    report.add('text_file_missing', line, `there is no file ${JSON.stringify(filePath)} that holds the text`);
    return false;
  }
  if (facts.size === 0) report.add('empty_text', line, `the file ${JSON.stringify(filePath)} is empty`);
  return facts.size > 0;
}
