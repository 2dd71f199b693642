import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block, and the `text` block that shows what it prints, where one comes next. */
export interface Example {
  language: string;
  code: string;
  /** Lines of the output that are shown. */
  shown: string[];
  /** 1-based line of the fence. */
  line: number;
}

/** @param path relative to the root */
export function readDocument(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8');
}

/** The fenced blocks of a document but for `text`, which belong to those before them. */
export function listExamples(markdown: string): Example[] {
  const examples: Example[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const language = /^```(\w+)$/u.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    const block = lines.slice(at + 1, end);
    if (language !== 'text') examples.push({ language, code: block.join('\n'), shown: [], line: at + 1 });
    else examples.at(-1)?.shown.push(...block);
    at = end;
  }
  return examples;
}

/** The relative links of a document. */
export function listLinks(markdown: string): string[] {
  const links = [...markdown.matchAll(/\]\(([^)\s]+)\)/gu)].map(([, target]) => target ?? '');
  return links.filter((target) => !/^[a-z]+:/u.test(target));
}

/** The anchors of a document's headings, as GitHub makes them. */
export function listAnchors(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gmu)].map(([, heading]) => heading ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
