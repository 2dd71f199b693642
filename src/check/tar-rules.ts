import type { TarMember } from '../tar/reader.js';
import type { DatasetFinding, DatasetKind } from './dataset-kinds.js';

/** What a reader without extended headers knows of a name (POSIX ustar, name field). */
const MAX_NAME_BYTES = 100;
const BLOCK_BYTES = 512;

/** Looks at the members of a tar one by one, whatever the rows say. */
export class MemberRules {
  /** Regular files. */
  fileCount = 0;
  folderCount = 0;
  /** Members with pax or GNU headers although their names fit without. */
  extendedCount = 0;
  readonly #file: string;
  readonly #note: (finding: DatasetFinding) => void;

  constructor(file: string, note: (finding: DatasetFinding) => void) {
    this.#file = file;
    this.#note = note;
  }

  /** Whether the member may be a part of a sample; the others are told of here. */
  see(member: TarMember): boolean {
    const { name, type, sizeBytes } = member;
    if (type === 'folder') {
      this.folderCount += 1;
      return false;
    }
    if (isJunk(name)) {
      this.#tell(
        'junk_member',
        member,
        `${JSON.stringify(name)} was left by a file manager, and loaders may take it for a sample`,
      );
      return false;
    }
    this.#checkName(member);
    if (type !== 'file') {
      this.#tell('not_a_file', member, `${JSON.stringify(name)} is a ${TYPE_WORDS[type]}: loaders pass over it`);
      return false;
    }
    this.fileCount += 1;
    if (sizeBytes === 0) this.#tell('empty_member', member, `${JSON.stringify(name)} has no bytes`);
    return true;
  }

  #checkName(member: TarMember): void {
    const { name } = member;
    const quoted = JSON.stringify(name);
    const fault = unsafeFault(name);
    if (fault !== undefined) this.#tell('unsafe_name', member, `${quoted} ${fault}`);
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    else if (/[\u0000-\u001f\u007f]/u.test(name)) {
      this.#tell('control_in_name', member, `${quoted} holds a control character`);
    }
    if (name.includes('\ufffd')) this.#tell('name_not_utf8', member, `${quoted} is a name that is not UTF-8`);
    const nameBytes = name.length * 3 > MAX_NAME_BYTES ? Buffer.byteLength(name) : 0;
    if (nameBytes > MAX_NAME_BYTES) {
      this.#tell(
        'long_name',
        member,
        `the name ${quoted} has ${nameBytes} bytes: some readers cut it, or cannot read it`,
      );
    } else if (member.offsetBytes - member.headerOffsetBytes > BLOCK_BYTES) {
      this.extendedCount += 1;
    }
  }

  #tell(kind: DatasetKind, { name, headerOffsetBytes }: TarMember, message: string): void {
    this.#note({ kind, message, file: this.#file, offsetBytes: headerOffsetBytes, member: name });
  }
}

const TYPE_WORDS = {
  hardlink: 'hard link',
  symlink: 'symbolic link',
  device: 'device or pipe',
  other: 'member of an unknown type',
  file: 'file',
  folder: 'folder',
} as const;

/** Files that systems and their file managers leave beside others. */
function isJunk(name: string): boolean {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return base.startsWith('._') || JUNK_NAMES.has(base) || /(?:^|\/)__MACOSX\//u.test(name);
}

const JUNK_NAMES: ReadonlySet<string> = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini', '.directory']);

/** Why extracting a name would leave its folder, on one system or another. */
function unsafeFault(name: string): string | undefined {
  if (name.startsWith('/')) return 'is an absolute path';
  if (name.includes('..') && name.split(/[/\\]/u).includes('..')) return 'leaves its folder by ".."';
  if (/^[A-Za-z]:/u.test(name)) return 'begins with the letter of a drive';
  if (name.includes('\\')) return 'holds a backslash, which parts folders on Windows and is a letter elsewhere';
  return undefined;
}
