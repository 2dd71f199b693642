import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.js';
import { nonEmpty, positiveInteger } from '../values.js';

/** The flags of `cutroom gen-lst`, parsed. */
export interface GenLstFlags {
  audioPattern: string;
  txtDir: string;
  output: string;
  audioPrefix?: string;
  txtPrefix?: string;
  strict: boolean;
  sort: boolean;
  jobs?: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

const path = 'path';

export const genLstCommand = buildCommand<GenLstFlags, [], CliContext>({
  loader: async () => {
    const { runGenLst } = await import('../run-gen-lst.js');
    return async function run(this: CliContext, flags) {
      await runGenLst(this, flags);
    };
  },
  docs: {
    brief: 'List the shards of an ATdataset in a .lst file, and compare members with rows',
    fullDescription: [
      'Writes a list with a line for each tar: its path, that of its manifest, hours and number of samples. The members of each tar, by their',
      'headers, are compared with the rows of the manifest; what does not fit is told with its place. Tars without a manifest, and shards that',
      'cannot be read, are left out of the list. With --strict, any problem means no list and exit code 1.',
      '',
      'EXAMPLE',
      "  cutroom gen-lst --audio-pattern 'data/tars/audios/*.tar' --txt-dir data/tars/manifests --output data/tars/data.lst",
    ].join('\n'),
  },
  parameters: {
    flags: {
      audioPattern: {
        kind: 'parsed',
        parse: nonEmpty,
        placeholder: 'pattern',
        brief: 'Tars: *, ?, [a-z], ** and {000..127}; quote it for the shell',
      },
      txtDir: {
        kind: 'parsed',
        parse: nonEmpty,
        placeholder: path,
        brief: 'Folder of the manifests: <key>.json or <key>.jsonl for <key>.tar',
      },
      output: { kind: 'parsed', parse: nonEmpty, placeholder: path, brief: 'The list; an earlier list is replaced' },
      audioPrefix: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: 'text',
        brief: 'What keys of tars begin with, where --txt-prefix stands in those of manifests',
      },
      txtPrefix: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: 'text',
        brief: 'What keys of manifests begin with, in place of --audio-prefix',
      },
      strict: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Write nothing and end with 1 where there is any problem',
      },
      sort: { kind: 'boolean', default: true, brief: 'Sort by the paths of the tars; else the order of the pattern' },
      jobs: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Shards read at once [one a core]',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the summary as JSON on stdout' },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each problem as it is met' },
    },
  },
});
