export function makeNemoRows(file: string, rows: number): string;
export function makeLhotseCuts(file: string, rows: number): string;
