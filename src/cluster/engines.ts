import { CanceledError, UsageError } from '../errors.js';
import type { Engine, EngineName } from './engine.js';

/** What an engine is given. */
export interface EngineContext {
  /** Variables that say where a cluster is, and a token for it. */
  environment: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Takes what is worth knowing once. */
  onNote?: ((message: string) => void) | undefined;
}

/**
 * Loads an engine: only the one that is used is.
 *
 * @throws {UsageError} when there is none of that name.
 */
export async function loadEngine(name: EngineName, { environment, signal, onNote }: EngineContext): Promise<Engine> {
  if (signal.aborted) throw new CanceledError('Stopped before anything was submitted', { cause: signal.reason });
  switch (name) {
    case 'slurm':
      return (await import('./slurm-engine.js')).createEngine(environment);
    case 'ray':
      return (await import('./ray-engine.js')).createEngine(environment, { signal, onNote });
    default:
      throw new UsageError(`There is no engine ${JSON.stringify(name)}`, { hint: 'There are slurm and ray.' });
  }
}
