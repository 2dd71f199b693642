import { createHash } from 'node:crypto';

/** What the Hub says that a file is. */
export interface FileFacts {
  commit: string;
  sizeBytes: number;
  /** Entity tag without quotes. */
  etag: string;
  /** Whether the entity tag is a checksum of the content. */
  isEtagChecksum: boolean;
}

/**
 * What is wrong with the content of a file, or undefined. Entity tags of the Hub are the SHA-256 of large files and the Git object id
 * of the others; those of mirrors may be the SHA-1.
 */
export function findContentFault(content: Uint8Array, facts: FileFacts): string | undefined {
  const { sizeBytes, etag } = facts;
  if (content.length !== sizeBytes) {
    return `${content.length.toLocaleString('en-US')} bytes came, ${sizeBytes.toLocaleString('en-US')} were announced`;
  }
  if (!facts.isEtagChecksum) return undefined;
  const digests = etag.length === 64 ? [digest('sha256', content)] : [gitObjectId(content), digest('sha1', content)];
  return digests.includes(etag) ? undefined : 'the content does not have the announced checksum';
}

/** The name of a content in the cache: its entity tag as Hugging Face's own programs have it, if that can be a file name. */
export function blobNameOf(content: Uint8Array, facts: FileFacts): string {
  return /^\w[\w.-]{0,199}$/.test(facts.etag) ? facts.etag : digest('sha256', content);
}

/** The id that Git gives a file of this content. */
function gitObjectId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function digest(algorithm: 'sha1' | 'sha256', content: Uint8Array): string {
  return createHash(algorithm).update(content).digest('hex');
}
