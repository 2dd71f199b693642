export function printLoaderReport(results: object): string;
