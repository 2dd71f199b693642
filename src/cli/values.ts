/** Parsers of flag values. What they throw is shown behind the flag's name. */

/** A number that satisfies a condition, which `wanted` puts in words. */
export function numberWhere(wanted: string, isValid: (value: number) => boolean): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? NaN : Number(text);
    if (Number.isFinite(value) && isValid(value)) return value;
    throw new SyntaxError(`must be ${wanted}`);
  };
}

export const positiveNumber = numberWhere('a number greater than 0', (value) => value > 0);
export const nonNegativeNumber = numberWhere('a number of 0 or more', (value) => value >= 0);
export const finiteNumber = numberWhere('a number', () => true);
export const positiveInteger = numberWhere(
  'a whole number of 1 or more',
  (value) => Number.isSafeInteger(value) && value >= 1,
);

/** `average`, or the 0-based number of a channel. */
export function channelChoice(text: string): 'average' | number {
  if (text === 'average') return text;
  if (/^\d{1,3}$/u.test(text)) return Number(text);
  throw new SyntaxError('must be "average" or the number of a channel, counted from 0');
}

/** `20`, or `1.5%`. */
export function failureLimit(text: string): { count: number } | { percent: number } {
  const match = /^(\d+(?:\.\d+)?)(%?)$/u.exec(text.trim());
  const value = Number(match?.[1]);
  if (match?.[2] === '%' && value <= 100) return { percent: value };
  if (match?.[2] === '' && Number.isSafeInteger(value)) return { count: value };
  throw new SyntaxError('must be a whole number, or a share such as 1.5%');
}

/** Any text but none. */
export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new SyntaxError('must not be empty');
  return text;
}
