import { createDecoder } from './decode-pool.js';
import type { EncodedFormat, UtteranceDecoder } from './decode-request.js';
import type { Loader } from './loader.js';
import { resolveLoaderOptions } from './loader-options.js';
import type { LoaderOptions, LoaderSettings } from './loader-options.js';

/**
 * Opens sources, plans batches of all their items from the manifests alone, and decodes them when they are asked for. Each epoch has each item
 * exactly once over all ranks and workers, unless options say otherwise; what then is left out or repeated stands in `warnings`.
 *
 * @throws UsageError or RangeError when options are wrong or do not go together, or a strategy loses items and `strict` is set.
 * @throws InputError when a source cannot be read, none of its rows is left, or an item is alone above a limit.
 * @throws OutputError when the folder of temporary files has no room, or takes no files.
 * @throws the reason of the signal.
 */
export async function createLoader(options: LoaderOptions): Promise<Loader> {
  const settings = resolveLoaderOptions(options);
  // Its processes start while all else is loaded, and the manifests are read.
  return await openOrClose(options, settings, createDecoder({ jobs: settings.jobs }));
}

/**
 * The same of encoded bytes, which are handed on as they are (`bytes` of a batch), and not decoded: `audio` is empty, and audio that is damaged
 * is not noticed.
 *
 * @throws as `createLoader` does; the loop ends by a UsageError where a row is a part of a file.
 */
export async function createRawLoader(options: LoaderOptions): Promise<Loader> {
  const settings = { ...resolveLoaderOptions(options), rawBytes: true };
  const { RawReader } = await import('./raw-reader.js');
  return await openOrClose(options, settings, new RawReader());
}

/**
 * The same of items that are encoded anew, as files of mono audio (`bytes` of a batch) of which `audio` then holds nothing. Where they cannot be
 * encoded by processes, `audio` holds them: without processes, of items of a dataset, or with `augment`.
 *
 * @throws as `createLoader` does.
 */
export async function createEncodingLoader(options: LoaderOptions, format: EncodedFormat): Promise<Loader> {
  const settings = resolveLoaderOptions(options);
  if (settings.jobs === 0 || settings.augment !== undefined) return await createLoader(options);
  const decoder = createDecoder({ jobs: settings.jobs, encodeAs: format });
  return await openOrClose(options, { ...settings, rawBytes: true }, decoder);
}

async function openOrClose(
  options: LoaderOptions,
  settings: LoaderSettings,
  decoder: UtteranceDecoder,
): Promise<Loader> {
  try {
    const { openLoader } = await import('./open-loader.js');
    return await openLoader(options, settings, decoder);
  } catch (error) {
    await decoder.close();
    throw error;
  }
}
