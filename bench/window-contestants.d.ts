/** What audiotree took. */
export interface AudiotreeReport {
  windowsASecond: number;
  /** Of CPU, for each window. */
  cpuMs: number;
  loudnessCpuSeconds: number;
}

export function parseAudiotreeReport(text: string): AudiotreeReport;
