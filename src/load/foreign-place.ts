/** Something that stands where a path should, and is none. */
export interface ForeignPlace {
  /** Completes `it is …`. */
  what: string;
  refusal: string;
  hint: string;
}

/**
 * What is no file on this machine: commands that WebDataset and Kaldi would run (`pipe:…`, `… |`), standard input (`-`), and addresses of other
 * machines. Nothing of them is ever run or fetched. Undefined for a path.
 */
export function findForeignPlace(text: string): ForeignPlace | undefined {
  // Most paths are told by their first letter: this is asked a million times.
  const colon = text.indexOf(':');
  if (colon < 0 && text !== '-' && !/[|`]|\$\(/u.test(text)) return undefined;
  if (/^\s*pipe:/iu.test(text) || /^\s*\||\|\s*$/u.test(text) || /^\s*(?:\$\(|`)/u.test(text)) {
    return {
      what: `a command (${shorten(text)})`,
      refusal: 'commands are never run',
      hint: 'Run it yourself, and name the file that it writes.',
    };
  }
  if (text === '-') {
    return {
      what: 'standard input ("-")',
      refusal: 'a loader reads files, at any place',
      hint: 'Write it to a file first.',
    };
  }
  const scheme = /^\s*([a-z][a-z0-9+.-]+):\/\//iu.exec(text)?.[1];
  if (scheme === undefined) return undefined;
  return {
    what: `an address (${shorten(text)})`,
    refusal: `${scheme.toLowerCase()} is not read`,
    hint: 'Copy it to a disk of this machine, or mount it, and name the file there.',
  };
}

function shorten(text: string): string {
  return JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`);
}
