import { readFileSync, readdirSync } from 'node:fs';
import { ROOT } from './markdown.js';

/** The fields of an interface, read from its source. */
export function listFields(file: string, name: string): string[] {
  const body = new RegExp(`interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 'su').exec(readSource(file))?.[1];
  if (body === undefined) throw new Error(`src/${file} has no interface ${name}`);
  return [...body.matchAll(/^ {2}(\w+)\??:/gmu)].map(([, field]) => field ?? '');
}

/** The source files of a room. */
export function listFolder(room: string): string[] {
  return readdirSync(`${ROOT}src/${room}`).map((name) => `${room}/${name}`);
}

/** The literals of a union type, or of an interface, read from its source. */
export function listLiterals(file: string, name: string): string[] {
  const source = readSource(file);
  const body =
    new RegExp(`type ${name} =(.*?);`, 'su').exec(source)?.[1] ??
    new RegExp(`interface ${name} \\{\n(.*?)\n\\}`, 'su').exec(source)?.[1];
  if (body === undefined) throw new Error(`src/${file} has no type ${name}`);
  return listStrings(body);
}

/** The literals that a property of this name is given or may have, anywhere in a file. */
export function listLiteralsOf(file: string, property: string): string[] {
  return [...readSource(file).matchAll(new RegExp(`\\b${property}\\??: ('.*?)[;,}]`, 'gu'))].flatMap(([, body]) =>
    listStrings(body ?? ''),
  );
}

/** The property names with an underscore that a file writes. */
export function listSnakeCase(file: string): string[] {
  return [...readSource(file).matchAll(/\b([a-z]+(?:_[a-z0-9]+)+): /gu)].map(([, name]) => name ?? '');
}

function listStrings(source: string): string[] {
  return [...source.matchAll(/'(\w+)'/gu)].map(([, literal]) => literal ?? '');
}

function readSource(file: string): string {
  return readFileSync(`${ROOT}src/${file}`, 'utf8');
}
