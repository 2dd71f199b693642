import { CanceledError, UsageError } from '../errors.js';
import type { Engine, EngineName } from './engine.js';

/** What an engine is given. */
export interface EngineContext {
  /** Variables that say where a cluster is, and a token for it. */
  environment: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Takes what is worth knowing once. */
  onNote?: ((message: string) => void) | undefined;
  /** Asks once and waits for seconds alone: for a look at how things stand, not to get work done. Default false. */
  isBrief?: boolean | undefined;
}

/** A look waits for an answer so long. */
const BRIEF_TIMEOUT_MS = 5_000;

/**
 * Loads an engine: only the one that is used is.
 *
 * @throws {UsageError} when there is none of that name.
 */
export async function loadEngine(
  name: EngineName,
  { environment, signal, onNote, isBrief = false }: EngineContext,
): Promise<Engine> {
  if (signal.aborted) throw new CanceledError('Stopped before anything was submitted', { cause: signal.reason });
  switch (name) {
    case 'slurm':
      return (await import('./slurm-engine.js')).createEngine(environment);
    case 'ray':
      return (await import('./ray-engine.js')).createEngine(environment, {
        signal,
        onNote,
        ...(isBrief ? { firstTries: 1, answerTimeoutMs: BRIEF_TIMEOUT_MS } : {}),
      });
    default:
      throw new UsageError(`There is no engine ${JSON.stringify(name)}`, { hint: 'There are slurm and ray.' });
  }
}
