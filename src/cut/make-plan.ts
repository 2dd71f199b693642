import { homedir } from 'node:os';
import { audioArchitecture } from '../audio/architecture.js';
import { loadTokenizer } from '../text/tokenizer.js';
import type { Tokenizer, TokenizerEvent } from '../text/tokenizer.js';
import { VERSION } from '../version.js';
import type { CutPlan } from './cut-plan.js';
import { describeOptions } from './identity.js';
import type { RunIdentity } from './identity.js';
import type { ResolvedCutOptions } from './options.js';
import { planCut } from './plan.js';
import type { FailureRecord } from './types.js';

/** What planning is given beside the options. */
export interface MakePlanContext {
  signal?: AbortSignal | undefined;
  /** Takes the count of rows read so far. */
  onRows?: ((rows: number) => void) | undefined;
  /** What happens while a tokenizer is fetched. */
  onTokenizerEvent?: ((event: TokenizerEvent) => void) | undefined;
  /** Takes each failure that planning finds, in the order of the manifest. */
  onFailure?: ((failure: FailureRecord) => void) | undefined;
  /** Variables that say where the Hub, its cache and its token are. Default: none. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Plans what options ask for.
 *
 * @returns the plan, to be closed by the caller, and what tells its run from others
 */
export async function makePlan(
  options: ResolvedCutOptions,
  context: MakePlanContext,
): Promise<{ plan: CutPlan; identity: RunIdentity }> {
  const tokenizer = await findTokenizer(options, context);
  const { signal, onRows, onFailure } = context;
  const plan = await planCut(options.settings, {
    tokenizer,
    signal,
    onFailure: (failure) => onFailure?.(failure),
    onProgress: (rows) => onRows?.(rows),
  });
  return {
    plan,
    identity: {
      cutroom_version: VERSION,
      audio_architecture: audioArchitecture(),
      input_sha256: plan.inputSha256,
      plan_hash: plan.hash,
      options: describeOptions(options, tokenizer?.fingerprint),
    },
  };
}

async function findTokenizer(
  { settings, tokenizer }: ResolvedCutOptions,
  context: MakePlanContext,
): Promise<Tokenizer | undefined> {
  if (!settings.repetitionFilter) return undefined;
  return await loadTokenizer({
    ...tokenizer,
    environment: context.environment ?? {},
    homeDir: homedir(),
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(context.onTokenizerEvent === undefined ? {} : { onEvent: context.onTokenizerEvent }),
  });
}
