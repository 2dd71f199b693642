import { UsageError } from '../errors.js';
import type { KindName, TaskKind } from './task-kind.js';

/** Loads a kind of work: only the one that is used is. */
export async function loadKind(name: KindName): Promise<TaskKind> {
  switch (name) {
    case 'cut':
      return (await import('./cut-kind.js')).cutKind;
    case 'build':
      return (await import('./build-kind.js')).buildKind;
    case 'tar':
      return (await import('./tar-kind.js')).tarKind;
    case 'scan':
      return (await import('./scan-kind.js')).scanKind;
    default:
      throw new UsageError(`The plan is of ${JSON.stringify(name)}, which this version does not know`);
  }
}
