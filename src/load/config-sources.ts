import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, systemCode } from '../errors.js';
import { nearest } from '../text/nearest.js';
import { ConfigFields, describe, listOf, readWeight, refuseUnknown } from './config-fields.js';
import { FOREIGN_TYPES } from './config-keys.js';
import { configError, parseYamlNode, toPlainValue, type ConfigNode } from './config-node.js';
import { resolvePath } from './config-path.js';
import { nemoSource } from './nemo-source.js';
import type { GroupSource, SourceSpec } from './sources.js';

/** What sources of a configuration are read with. */
export interface SourceContext {
  /** Powers of weights: one for all levels, or one a level from the outermost on. */
  temperature: number | readonly number[] | undefined;
  /** Files that are being read: one that names itself is found. */
  openFiles: readonly string[];
  /** 0 at the outermost list. */
  level: number;
  /** Takes the level of each list. */
  onLevel: (level: number) => void;
}

const TYPES = ['nemo', 'nemo_tarred', 'path', 'lst', 'cut', 'build', 'tar', 'group'] as const;

const COMMON_KEYS = ['type', 'name', 'weight', 'tags'] as const;
const KEYS_OF: Readonly<Record<(typeof TYPES)[number], readonly string[]>> = {
  nemo: ['manifest_filepath', 'tarred_audio_filepaths'],
  nemo_tarred: ['manifest_filepath', 'tarred_audio_filepaths'],
  path: ['path'],
  lst: ['path'],
  cut: ['path'],
  build: ['path'],
  tar: ['path'],
  group: ['input_cfg'],
};

/**
 * The sources of an `input_cfg`: a list of entries, or the path of a YAML file with one.
 *
 * @throws {UsageError} that names the line.
 */
export async function readInputList(node: ConfigNode, context: SourceContext): Promise<GroupSource> {
  if (typeof node.value === 'string') return await readListFile(node, node.value, context);
  context.onLevel(context.level);
  const sources: SourceSpec[] = [];
  for (const entry of listOf(node, 'the list of sources')) sources.push(await readEntry(entry, context));
  const weighted = sources.filter(({ weight }) => weight !== undefined).length;
  if (weighted > 0 && weighted < sources.length) {
    const hint = 'Give each source of a list a weight, or none.';
    throw configError(`${weighted} of ${sources.length} sources of the list have a weight`, node, hint);
  }
  const temperature = weighted > 0 ? temperatureAt(context) : undefined;
  return temperature === undefined ? { type: 'group', sources } : { type: 'group', sources, temperature };
}

async function readListFile(node: ConfigNode, given: string, context: SourceContext): Promise<GroupSource> {
  const file = resolvePath(node, given);
  if (context.openFiles.includes(path.resolve(file))) throw configError(`"${given}" is a part of itself`, node);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw configError(`"${file}" cannot be read: ${reason}`, node);
  });
  const list = parseYamlNode(text, file);
  const inner = { ...context, openFiles: [...context.openFiles, path.resolve(file)] };
  if (!(list.value instanceof Map)) return await readInputList(list, inner);
  const fields = new ConfigFields(list, 'the file');
  const entries = fields.take('input_cfg');
  for (const [key, value] of fields.rest()) refuseUnknown(key, value, ['input_cfg'], 'a list of sources');
  if (entries === undefined) throw configError('it holds no list of sources', list);
  return await readInputList(entries, inner);
}

async function readEntry(node: ConfigNode, context: SourceContext): Promise<SourceSpec> {
  const fields = new ConfigFields(node, 'an entry of the list of sources');
  const type = readType(fields);
  const keys = [...COMMON_KEYS, ...KEYS_OF[type]];
  const common = readCommon(fields);
  const source = await readOwn(fields, type, context);
  for (const [key, value] of [...fields.rest(), ...fields.emptyRest()]) {
    refuseUnknown(key, value, keys, `an entry of type ${type}`);
  }
  return { ...source, ...common };
}

function readType(fields: ConfigFields): (typeof TYPES)[number] {
  const node = fields.take('type');
  if (node === undefined) {
    if (fields.has('input_cfg')) return 'group';
    if (fields.has('manifest_filepath')) return 'nemo';
    if (fields.has('path')) return 'path';
    throw configError('an entry has no "type"', fields.node, `Types are ${TYPES.join(', ')}.`);
  }
  const found = TYPES.find((type) => type === node.value);
  if (found !== undefined) return found;
  const given = String(toPlainValue(node));
  if (FOREIGN_TYPES.includes(given)) {
    throw configError(`sources of type ${given} are not read`, node, `Types are ${TYPES.join(', ')}.`);
  }
  const near = nearest(given, TYPES);
  const hint = near === undefined ? `Types are ${TYPES.join(', ')}.` : `Did you mean ${near}?`;
  throw configError(`there is no type ${describe(node)} of sources`, node, hint);
}

function readCommon(fields: ConfigFields): Pick<SourceSpec, 'name' | 'weight' | 'tags'> {
  const name = fields.takeText('name');
  const weight = readWeight(fields.take('weight'));
  const tags = fields.take('tags');
  if (tags !== undefined && !(tags.value instanceof Map)) {
    throw configError(`"tags" is ${describe(tags)}, and must have keys and values`, tags);
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(weight === undefined ? {} : { weight }),
    ...(tags === undefined ? {} : { tags: toPlainValue(tags) as Record<string, unknown> }),
  };
}

async function readOwn(
  fields: ConfigFields,
  type: (typeof TYPES)[number],
  context: SourceContext,
): Promise<SourceSpec> {
  if (type === 'group') {
    const list = fields.take('input_cfg');
    if (list === undefined) throw configError('a group has no "input_cfg"', fields.node);
    return await readInputList(list, { ...context, level: context.level + 1 });
  }
  if (type === 'nemo' || type === 'nemo_tarred') {
    const manifests = fields.take('manifest_filepath');
    const tars = fields.take('tarred_audio_filepaths');
    if (manifests === undefined) throw configError(`an entry of type ${type} has no "manifest_filepath"`, fields.node);
    if (type === 'nemo_tarred' && tars === undefined) {
      refuseMisspelled(fields, type);
      throw configError('an entry of type nemo_tarred has no "tarred_audio_filepaths"', fields.node);
    }
    return nemoSource(manifests, tars, { isStatic: false, weights: undefined });
  }
  const node = fields.take('path');
  if (node === undefined) throw configError(`an entry of type ${type} has no "path"`, fields.node);
  if (typeof node.value !== 'string') throw configError(`"path" is ${describe(node)}, and must be a text`, node);
  return { type: 'path', path: resolvePath(node, node.value) };
}

/** A key that is spelled wrong is told before the one that is missing for it. */
function refuseMisspelled(fields: ConfigFields, type: (typeof TYPES)[number]): void {
  const keys: readonly string[] = [...COMMON_KEYS, ...KEYS_OF[type]];
  const wrong = fields.rest().find(([key]) => !keys.includes(key));
  if (wrong !== undefined) refuseUnknown(...wrong, keys, `an entry of type ${type}`);
}

function temperatureAt({ temperature, level }: SourceContext): number | undefined {
  if (temperature === undefined || typeof temperature === 'number') return temperature;
  return temperature[level];
}
