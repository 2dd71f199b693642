import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { ConfigFields, countOf, describe, listOf, numberOf, refuseUnknown } from './config-fields.js';
import { IGNORED_KEYS, REFUSED_KEYS } from './config-keys.js';
import { configError, parseYamlNode, toConfigNode, toPlainValue, type ConfigNode } from './config-node.js';
import { OPTION_KEYS, readOptions, type ConfigOptions, type IgnoredKey } from './config-options.js';
import { readInputList, type SourceContext } from './config-sources.js';
import { nemoSource } from './nemo-source.js';
import type { SourceSpec } from './sources.js';

export type { ConfigOptions, IgnoredKey } from './config-options.js';

/** What a configuration says. */
export interface LoaderConfig {
  source: SourceSpec;
  options: ConfigOptions;
  /** Keys that change nothing here, in the order of the configuration. */
  ignored: IgnoredKey[];
}

export interface ParseConfigOptions {
  /** The file that the YAML was read from: relative paths belong to its folder. By default to the working folder. */
  path?: string | undefined;
  /** Where the configuration stands in the YAML, such as `model.train_ds`. By default it is all of it. */
  section?: string | undefined;
}

const SOURCE_KEYS = ['input_cfg', 'manifest_filepath', 'tarred_audio_filepaths', 'is_tarred', 'path'];
const MIXING_KEYS = ['reweight_temperature', 'bucketing_weights', 'use_lhotse'];
const KNOWN_KEYS = [...SOURCE_KEYS, ...MIXING_KEYS, ...OPTION_KEYS];

/**
 * Reads the configuration of a loader from a YAML file; see `parseLoaderConfig`.
 *
 * @throws {InputError} when the file cannot be read.
 * @throws {UsageError} for what it cannot mean.
 */
export async function readLoaderConfig(
  file: string,
  options: Pick<ParseConfigOptions, 'section'> = {},
): Promise<LoaderConfig> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read "${file}": ${reason}`, { path: file, cause: error });
  });
  return await parseLoaderConfig(text, { ...options, path: file });
}

/**
 * Takes a configuration as NeMo has it (`train_ds`): `input_cfg`, or `manifest_filepath` and `tarred_audio_filepaths`, and options beside them; or
 * a list of sources alone. Nothing in it is ever run, fetched or filled in.
 *
 * Keys of NeMo that change nothing here are listed in `ignored`; those that would change something, and do not, are refused, as are keys that do
 * not exist.
 *
 * @param configuration YAML, or what it holds
 * @throws {UsageError} that names the line, and what could be meant.
 */
export async function parseLoaderConfig(
  configuration: string | object,
  { path: file, section }: ParseConfigOptions = {},
): Promise<LoaderConfig> {
  const whole =
    typeof configuration === 'string' ? parseYamlNode(configuration, file) : placeIn(toConfigNode(configuration), file);
  const node = section === undefined ? whole : findSection(whole, section);
  const openFiles = file === undefined ? [] : [path.resolve(file)];
  if (Array.isArray(node.value)) {
    const source = await readInputList(node, { temperature: undefined, openFiles, level: 0, onLevel: () => undefined });
    const options = { plan: {}, filters: {}, sampleRate: undefined, textField: undefined };
    return { source, options, ignored: [] };
  }
  const fields = new ConfigFields(node, 'it');
  refuseWholeModel(fields);
  const ignored: IgnoredKey[] = [];
  const source = await readSource(fields, openFiles, ignored);
  const options = readOptions(fields, ignored);
  for (const [key, value] of fields.rest()) passOver(key, value, ignored);
  for (const [key, value] of fields.emptyRest()) {
    if (!isKnown(key)) refuseUnknown(key, value, KNOWN_KEYS, 'a configuration');
  }
  return { source, options, ignored };
}

/** Relative paths of a program's values belong to the folder of the file that it names. */
function placeIn(node: ConfigNode, file: string | undefined): ConfigNode {
  const { value } = node;
  if (Array.isArray(value)) return { ...node, file, value: value.map((item) => placeIn(item, file)) };
  if (!(value instanceof Map)) return { ...node, file };
  return { ...node, file, value: new Map([...value].map(([key, item]) => [key, placeIn(item, file)])) };
}

function findSection(whole: ConfigNode, section: string): ConfigNode {
  let node = whole;
  for (const key of section.split('.')) {
    const inner = node.value instanceof Map ? node.value.get(key) : undefined;
    if (inner === undefined) throw configError(`it has no section "${section}": "${key}" is not there`, node);
    node = inner;
  }
  return node;
}

function refuseWholeModel(fields: ConfigFields): void {
  const section = ['model', 'train_ds', 'data'].find((key) => fields.has(key));
  if (section === undefined) return;
  const hint = 'Name the part with the sources, such as the section "model.train_ds".';
  throw configError(`it is the configuration of a whole model ("${section}")`, fields.node, hint);
}

async function readSource(
  fields: ConfigFields,
  openFiles: readonly string[],
  ignored: IgnoredKey[],
): Promise<SourceSpec> {
  const list = fields.take('input_cfg');
  const manifests = fields.take('manifest_filepath');
  const tars = fields.take('tarred_audio_filepaths');
  const isTarred = fields.takeFlag('is_tarred');
  const temperatureNode = fields.take('reweight_temperature');
  const temperature = temperatureNode === undefined ? undefined : readTemperature(temperatureNode);
  const weights = fields.take('bucketing_weights');
  const usesLhotse = fields.takeFlag('use_lhotse');
  if (usesLhotse !== undefined) ignored.push({ key: 'use_lhotse', reason: IGNORED_KEYS['use_lhotse'] ?? '' });
  const place = fields.takeText('path');
  if ([list, manifests, place].filter((given) => given !== undefined).length > 1) {
    throw configError('it names its sources twice', fields.node, 'Give "input_cfg", "manifest_filepath" or "path".');
  }
  if (place !== undefined) {
    const entry = toConfigNode([{ type: 'path', path: place }]);
    return await readInputList(placeIn(entry, fields.node.file), plainContext(openFiles));
  }
  if (list !== undefined) return await readMixture(list, temperatureNode, temperature, openFiles);
  refuseMisspelledSources(fields);
  if (manifests === undefined) {
    throw configError('it names no source', fields.node, 'Give "input_cfg", "manifest_filepath" or "path".');
  }
  if (isTarred === true && tars === undefined) {
    throw configError('"is_tarred" is true, and there are no "tarred_audio_filepaths"', fields.node);
  }
  if (isTarred === false && tars !== undefined) {
    throw configError('"is_tarred" is false, and there are "tarred_audio_filepaths"', tars);
  }
  const bucketWeights = weights && listOf(weights, '"bucketing_weights"');
  const source = nemoSource(manifests, tars, {
    isStatic: usesLhotse !== true,
    weights: bucketWeights?.map((weight) => countOf(weight, 'a weight of a bucket', 1)),
  });
  if (weights !== undefined && source.type !== 'buckets') {
    throw configError('"bucketing_weights" are given, and there are no static buckets', weights);
  }
  const isWeighted = source.type === 'group' && source.sources.some(({ weight }) => weight !== undefined);
  return typeof temperature === 'number' && isWeighted ? { ...source, temperature } : source;
}

/** The one key that NeMo itself passes over in silence: a dataset of files would be made of a tarred one. */
function refuseMisspelledSources(fields: ConfigFields): void {
  const wrong = fields.rest().find(([key]) => /^tar|audio_filepath|manifest/u.test(key) && !isKnown(key));
  if (wrong !== undefined) refuseUnknown(...wrong, KNOWN_KEYS, 'a configuration');
}

function isKnown(key: string): boolean {
  return KNOWN_KEYS.includes(key) || Object.hasOwn(IGNORED_KEYS, key) || Object.hasOwn(REFUSED_KEYS, key);
}

function plainContext(openFiles: readonly string[]): SourceContext {
  return { temperature: undefined, openFiles, level: 0, onLevel: () => undefined };
}

async function readMixture(
  list: ConfigNode,
  temperatureNode: ConfigNode | undefined,
  temperature: SourceContext['temperature'],
  openFiles: readonly string[],
): Promise<SourceSpec> {
  let levels = 0;
  const onLevel = (level: number): void => {
    levels = Math.max(levels, level + 1);
  };
  const source = await readInputList(list, { temperature, openFiles, level: 0, onLevel });
  if (temperatureNode !== undefined && Array.isArray(temperature) && temperature.length !== levels) {
    const state = `"reweight_temperature" has ${temperature.length} numbers, and the sources ${levels} levels`;
    throw configError(state, temperatureNode, 'Give one number for each level, or one for all.');
  }
  return source;
}

function readTemperature(node: ConfigNode): number | number[] {
  if (!Array.isArray(node.value)) return temperatureOf(node);
  return listOf(node, '"reweight_temperature"').map(temperatureOf);
}

function temperatureOf(node: ConfigNode): number {
  const temperature = numberOf(node, '"reweight_temperature"');
  if (temperature >= 0 && temperature <= 100) return temperature;
  const hint = 'Each weight w becomes w^t: 1 keeps the weights, 0 makes all equal.';
  throw configError(`"reweight_temperature" is ${temperature}, and must be from 0 to 100`, node, hint);
}

/** A key that no option has. */
function passOver(key: string, node: ConfigNode, ignored: IgnoredKey[]): void {
  const reason = Object.hasOwn(IGNORED_KEYS, key) ? IGNORED_KEYS[key] : undefined;
  if (reason !== undefined) {
    ignored.push({ key, reason });
    return;
  }
  const refused = Object.hasOwn(REFUSED_KEYS, key) ? REFUSED_KEYS[key] : undefined;
  if (refused === undefined) refuseUnknown(key, node, KNOWN_KEYS, 'a configuration');
  const value = toPlainValue(node);
  if (!refused.harmless.includes(value)) {
    throw configError(`"${key}" (${describe(node)}) is not done here`, node, refused.hint);
  }
  ignored.push({ key, reason: 'its value asks for nothing' });
}
