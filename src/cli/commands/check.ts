import { buildCommand } from '@stricli/core';
import { PATH_KINDS, type PathKind } from '../../check/path-kind.js';
import type { CliContext } from '../context.js';
import { nonEmpty, positiveInteger } from '../values.js';

/** The flags of `cutroom check`, parsed. */
export interface CheckFlags {
  as?: PathKind;
  json: boolean;
  deep: boolean;
  worldSize?: number;
  workers?: number;
  fix?: string;
  overwrite: boolean;
  base?: string;
  jobs?: number;
  quiet: boolean;
  verbose: boolean;
}

const path = 'path';

export const checkCommand = buildCommand<CheckFlags, string[], CliContext>({
  loader: async () => {
    const { runCheck } = await import('../run-check.js');
    return async function run(this: CliContext, flags, ...paths) {
      await runCheck(this, flags, paths);
    };
  },
  docs: {
    brief: 'Tell what is wrong with manifests and datasets before training does',
    fullDescription: [
      'Reads manifests (long-form, NeMo, Canary, ATdataset, TSV), lists of shards, folders of NeMo tars, outputs of cutroom cut, and tars, and',
      'tells what a loader would refuse, lose, or misread although it accepts it: by kind, with counts and the first places. Ends with 1 if',
      'there is any problem. What a path is, is found out by its content. --fix writes a corrected copy of what can be put right without',
      'being asked, and ends with 1 if anything is left.',
      '',
      'EXAMPLE',
      '  cutroom check train.json',
      '  cutroom check data/tars/data.lst --world-size 8 --workers 4',
      '  cutroom check canary.json --fix canary.fixed.json',
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      minimum: 1,
      parameter: { brief: 'Manifests, lists, tars, and folders of datasets', parse: nonEmpty, placeholder: path },
    },
    flags: {
      as: {
        kind: 'enum',
        values: PATH_KINDS,
        optional: true,
        brief: 'What the paths are [found out by their content]',
      },
      json: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print all that was found as JSON on stdout',
      },
      deep: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Decode the audio: length, silence, clipping, rate',
      },
      worldSize: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Tell what each of so many trainer processes would read of a dataset',
      },
      workers: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Loader workers of each trainer process [1]',
      },
      fix: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Write corrected copies: a file for one path, a folder for several',
      },
      overwrite: { kind: 'boolean', default: false, withNegated: false, brief: 'Replace earlier copies of --fix' },
      base: {
        kind: 'parsed',
        parse: nonEmpty,
        optional: true,
        placeholder: path,
        brief: 'Folder of relative audio paths [that of the manifest]',
      },
      jobs: {
        kind: 'parsed',
        parse: positiveInteger,
        optional: true,
        placeholder: 'count',
        brief: 'Shards or files looked at at once [one a core]',
      },
      quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
      verbose: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Show up to 1,000 places of each kind, not 5',
      },
    },
  },
});
