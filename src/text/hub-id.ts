import { UsageError } from '../errors.js';

/** A repository on the Hub at a revision. */
export interface HubId {
  /** `owner/name`, or `name` alone for the oldest repositories. */
  name: string;
  /** A branch, a tag or a commit; `main` where none is named. */
  revision: string;
}

/**
 * Reads `owner/name`, `name`, or either with `@revision`, by the Hub's rules: letters, digits, `-`, `_` and `.`; no `--` or `..`; no
 * `-` or `.` at either end; at most 96 characters; not `.git` at the end.
 *
 * @throws UsageError
 */
export function parseHubId(text: string): HubId {
  const at = text.indexOf('@');
  const name = at < 0 ? text : text.slice(0, at);
  const revision = at < 0 ? 'main' : text.slice(at + 1);
  const fault = nameFault(name) ?? revisionFault(revision);
  if (fault !== undefined) {
    const shown = text.replace(/\/\/[^/]*@/, '//[secret]@');
    throw new UsageError(
      `Cannot find the tokenizer "${shown}": no such file or folder, and as a Hub repository ${fault}`,
      {
        hint: 'Name a folder with a tokenizer.json, the file itself, or a repository as owner/name or owner/name@revision.',
      },
    );
  }
  return { name, revision };
}

const PART = /^\w(?:[\w.-]*\w)?$/;
const REVISION_PART = /^\w(?:[\w.+-]*\w)?$/;

function nameFault(name: string): string | undefined {
  const parts = name.split('/');
  if (name.includes('://')) return 'it must be named by its id, not by its address';
  if (parts.length > 2) return 'its id has more than one slash';
  if (!parts.every((part) => PART.test(part))) return 'its id is not valid';
  if (name.includes('--') || name.includes('..')) return 'its id must not hold "--" or ".."';
  if (name.endsWith('.git')) return 'its id must not end with ".git"';
  if (name.length > 96) return 'its id is longer than 96 characters';
  return undefined;
}

function revisionFault(revision: string): string | undefined {
  const isValid =
    revision.length <= 200 && revision.split('/').every((part) => REVISION_PART.test(part) && !part.includes('..'));
  return isValid ? undefined : `its revision "${revision}" is not valid`;
}
