import path from 'node:path';

/** The files of a scan and of the work on it. */
export interface ScanPlaces {
  folder: string;
  /** One row a file, in the order of the paths. */
  scan: string;
  failures: string;
  /** Written last: without it a scan is not whole. */
  metrics: string;
  /** Where packets lie in long compressed files, for whoever draws windows of them. */
  indexes: string;
  /** Holds the work in progress; gone when it is done. */
  workFolder: string;
  journal: string;
  /** The loudness of windows, as it comes in. */
  spool: string;
  /** Holds the new files until all are whole. */
  newFolder: string;
}

export const SCAN_NAME = 'scan.jsonl';
export const FAILURES_NAME = 'failures.jsonl';
export const METRICS_NAME = 'metrics.json';

/** Where the files of a scan lie. */
export function placesOf(folder: string): ScanPlaces {
  const workFolder = path.join(folder, '.cutroom-scan');
  return {
    folder,
    scan: path.join(folder, SCAN_NAME),
    failures: path.join(folder, FAILURES_NAME),
    metrics: path.join(folder, METRICS_NAME),
    indexes: path.join(folder, 'indexes'),
    workFolder,
    journal: path.join(workFolder, 'journal'),
    spool: path.join(workFolder, 'spool'),
    newFolder: path.join(workFolder, 'new'),
  };
}
