import { decodeJson, kindOfJson } from '../manifest/json-object.js';

/** What NeMo's Canary prompts make of a value in a manifest, and what should stand there. */
export interface PromptVerdict {
  verdict: 'canonical' | 'synonym' | 'yes_misread' | 'boolean_value' | 'bare_emotion' | 'value_not_allowed';
  /** The value to write; undefined where what is meant cannot be told. */
  canonical: string | undefined;
}

/** Keys of the second format that are switched on or off, with what stands for a key that is absent. */
export const FLASH_SWITCHES = { pnc: 'yes', itn: 'no', timestamp: 'no', diarize: 'no' } as const;

const YES_NO = /^(?:(?<yes>y|yes|true|on|1)|n|no|false|off|0)$/u;

/**
 * A value that is switched on or off. The check of values takes more than the mapping knows: "Yes" passes and then counts as no.
 * Source: NeMo's prompts canary.py and canary2.py.
 */
export function judgeSwitch(slot: string, raw: string): PromptVerdict {
  const kind = kindOfJson(raw);
  if (kind === 'boolean') return { verdict: 'boolean_value', canonical: raw === 'true' ? 'yes' : 'no' };
  if (kind === 'number' && (raw === '0' || raw === '1')) {
    return { verdict: 'value_not_allowed', canonical: raw === '1' ? 'yes' : 'no' };
  }
  if (kind !== 'string') return { verdict: 'value_not_allowed', canonical: undefined };
  const value = decodeJson(raw) as string;
  if (value === 'yes' || value === 'no') return { verdict: 'canonical', canonical: value };
  if (value === 'Yes') return { verdict: 'yes_misread', canonical: 'yes' };
  if (['True', 'true', '1', slot, `<|${slot}|>`].includes(value)) return { verdict: 'synonym', canonical: 'yes' };
  if (['No', 'False', 'false', '0', `no${slot}`, `<|no${slot}|>`].includes(value)) {
    return { verdict: 'synonym', canonical: 'no' };
  }
  const meant = YES_NO.exec(value.trim().toLowerCase());
  const canonical = meant === null ? undefined : meant.groups?.['yes'] === undefined ? 'no' : 'yes';
  return { verdict: 'value_not_allowed', canonical };
}

const TASKS: Readonly<Record<string, string>> = {
  asr: 'asr',
  transcribe: 'asr',
  '<|transcribe|>': 'asr',
  ast: 'ast',
  translate: 'ast',
  s2t_translation: 'ast',
  '<|translate|>': 'ast',
};

/** The task of the first format: `asr` or `ast`. */
export function judgeTask(raw: string): PromptVerdict {
  if (kindOfJson(raw) !== 'string') return { verdict: 'value_not_allowed', canonical: undefined };
  const value = decodeJson(raw) as string;
  const known = Object.hasOwn(TASKS, value) ? TASKS[value] : undefined;
  if (known !== undefined) return { verdict: value === known ? 'canonical' : 'synonym', canonical: known };
  const lower = value.trim().toLowerCase();
  return { verdict: 'value_not_allowed', canonical: Object.hasOwn(TASKS, lower) ? TASKS[lower] : undefined };
}

const EMOTIONS = ['undefined', 'neutral', 'angry', 'happy', 'sad'];

/** The emotion of the second format: a literal in brackets; its page shows the bare word, which fails. */
export function judgeEmotion(raw: string): PromptVerdict {
  if (kindOfJson(raw) !== 'string') return { verdict: 'value_not_allowed', canonical: undefined };
  const value = decodeJson(raw) as string;
  const word = /^<\|emo:(.*)\|>$/su.exec(value)?.[1];
  if (word !== undefined && EMOTIONS.includes(word)) return { verdict: 'canonical', canonical: value };
  const lower = (word ?? value).trim().toLowerCase();
  const canonical = EMOTIONS.includes(lower) ? `<|emo:${lower}|>` : undefined;
  return { verdict: EMOTIONS.includes(value) ? 'bare_emotion' : 'value_not_allowed', canonical };
}

export interface LanguageVerdict {
  verdict: 'code' | 'bad_language' | 'unknown_language';
  /** Without brackets. */
  code: string | undefined;
}

/** Languages of canary-1b and canary-1b-flash: en, de, es, fr; those of canary-1b-v2 are these. */
const V2_LANGUAGES = 'bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk'.split(' ');

/** A language: a bare code, or one in the brackets of a token. */
export function judgeLanguage(raw: string): LanguageVerdict {
  if (kindOfJson(raw) !== 'string') return { verdict: 'bad_language', code: undefined };
  const value = decodeJson(raw) as string;
  const code = /^<\|(.*)\|>$/su.exec(value)?.[1] ?? value;
  if (V2_LANGUAGES.includes(code)) return { verdict: 'code', code };
  const lower = code.trim().toLowerCase();
  if (lower !== code && V2_LANGUAGES.includes(lower)) return { verdict: 'bad_language', code: lower };
  if (/^[a-z]{2,3}$/u.test(code)) return { verdict: 'unknown_language', code };
  return { verdict: 'bad_language', code: undefined };
}
