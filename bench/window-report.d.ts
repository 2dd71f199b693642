export function printWindowReport(results: object): string;
