/** How far a run is. */
export type CutProgress =
  | { stage: 'plan'; rows: number }
  | { stage: 'preview'; snippets: number; totalSnippets: number }
  | {
      stage: 'cut';
      recordings: number;
      totalRecordings: number;
      /** Hours of snippets that are done, those of an earlier run included. */
      hours: number;
      totalHours: number;
      /** Hours of them that an earlier run had done. */
      resumedHours: number;
      /** Seconds since cutting began in this run. */
      seconds: number;
    }
  | { stage: 'publish' };

export type OnCutProgress = (progress: CutProgress) => void;
