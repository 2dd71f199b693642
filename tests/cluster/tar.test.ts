import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { expectBytesOfOneRun } from '../support/plan-runs.js';
import { makeTarInput } from '../support/task-inputs.js';
import type { TarFolder } from '../tarred/tar-runs.js';

let place: TarFolder;
let manifest: string;
beforeAll(() => {
  ({ place, manifest } = makeTarInput());
});
afterAll(() => place.remove());

function requestOf(out: string, changes: Partial<TarOptions> = {}): TarOptions {
  return { manifestPaths: [manifest], targetDir: path.join(place.folder, out), numShards: 3, jobs: 1, ...changes };
}

const environment = { SOURCE_DATE_EPOCH: '1700000000' };

describe('the kind tar', () => {
  it('makes the bytes of one run, indexes included, without looking at its manifests again', async () => {
    const request = requestOf('index', {
      index: ['wids', 'lhotse'],
      shuffle: true,
      shardManifests: false,
      remainder: 'drop',
    });
    const { tasks, end } = await expectBytesOfOneRun({
      kind: 'tar',
      request,
      out: path.join(place.folder, 'index'),
      planFolder: path.join(place.folder, 'plan-index'),
      local: () => tarDataset(request, { environment }),
      input: manifest,
      environment,
    });
    expect(tasks).toHaveLength(2);
    expect(end.isWithinLimit).toBe(false);
  });
});
