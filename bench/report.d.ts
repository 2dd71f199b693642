export function printReport(results: object): string;
