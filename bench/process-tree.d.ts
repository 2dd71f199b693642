/** What a command and the processes below it took. */
export interface Measured {
  wallSeconds: number;
  cpuSeconds: number;
  peakBytes: number;
  stdout: string;
}

export function measure(command: string[]): Promise<Measured>;
