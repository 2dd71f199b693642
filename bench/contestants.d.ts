/** What NeMo Curator's stages took, without their imports. */
export interface CuratorReport {
  cpuSeconds: number;
  importSeconds: number;
  stages: { name: string; cpuSeconds: number; tasks: number }[];
  peakBytes: number;
}

export function parseCuratorReport(text: string): CuratorReport;
