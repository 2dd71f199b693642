import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, listAnchors, listLinks, readDocument } from './markdown.js';

const documents = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'samples/README.md'],
  ...readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`),
];

describe('the links of the documents', () => {
  it.each(documents)('%s leads to files and headings that are there', (document) => {
    const markdown = readDocument(document);
    const broken = listLinks(markdown).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? document : path.posix.join(path.posix.dirname(document), file);
      if (!existsSync(path.join(ROOT, target))) return true;
      return anchor !== undefined && !listAnchors(readDocument(target)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});
