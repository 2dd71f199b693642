import { quote, type ManifestReport } from './manifest-report.js';
import {
  FLASH_SWITCHES,
  judgeEmotion,
  judgeLanguage,
  judgeSwitch,
  judgeTask,
  type PromptVerdict,
} from './prompt-values.js';
import type { ScannedRow } from './scanned-row.js';

/** Reports keys of a Canary prompt that are missing, not allowed, or read as something else. Counts accepted synonyms. */
export class CanaryKeys {
  readonly #report: ManifestReport;
  readonly #version: 'v1' | 'flash';
  synonyms = 0;

  constructor(report: ManifestReport, version: 'v1' | 'flash') {
    this.#report = report;
    this.#version = version;
  }

  check(row: ScannedRow, line: number): void {
    const source = this.#checkLanguage(row, 'source_lang', line);
    const target = this.#checkLanguage(row, 'target_lang', line);
    if (row.kind('audio_filepath') === 'array') {
      this.#report.add('several_channel_files', line, 'audio_filepath is a list');
    }
    if (this.#version === 'v1') this.#checkFirstFormat(row, line, source, target);
    else this.#checkSecondFormat(row, line);
  }

  #checkFirstFormat(row: ScannedRow, line: number, source: string | undefined, target: string | undefined): void {
    const taskKey = row.has('task') ? 'task' : 'taskname';
    const task = row.raw(taskKey);
    if (task === undefined) this.#missing('task', line);
    else {
      const judged = judgeTask(task);
      this.#tell(judged, taskKey, task, line, 'it is "asr" or "ast"');
      const { canonical, verdict } = judged;
      if (verdict !== 'value_not_allowed' && source !== undefined && target !== undefined) {
        if ((canonical === 'asr') !== (source === target)) {
          const message = `${taskKey} is ${quote(task)}, and the languages are ${source} and ${target}`;
          this.#report.add('task_against_languages', line, message);
        }
      }
    }
    const pnc = row.raw('pnc');
    if (pnc === undefined) this.#missing('pnc', line);
    else this.#tell(judgeSwitch('pnc', pnc), 'pnc', pnc, line, YES_OR_NO);
  }

  #checkSecondFormat(row: ScannedRow, line: number): void {
    for (const slot of Object.keys(FLASH_SWITCHES)) {
      const raw = row.raw(slot);
      if (raw !== undefined) this.#tell(judgeSwitch(slot, raw), slot, raw, line, YES_OR_NO);
    }
    const emotion = row.raw('emotion');
    if (emotion !== undefined) {
      this.#tell(
        judgeEmotion(emotion),
        'emotion',
        emotion,
        line,
        'it is <|emo:neutral|>, angry, happy, sad or undefined',
      );
    }
    const context = row.raw('decodercontext');
    if (context !== undefined && row.kind('decodercontext') !== 'string') {
      const message = `decodercontext is ${quote(context)}, not a string`;
      this.#report.add('value_not_allowed', line, message, { hint: 'leave the key out where there is no context' });
    }
  }

  #checkLanguage(row: ScannedRow, key: string, line: number): string | undefined {
    const raw = row.raw(key);
    if (raw === undefined) {
      this.#missing(key, line);
      return undefined;
    }
    const { verdict, code } = judgeLanguage(raw);
    if (verdict === 'code') return code;
    this.#report.add(verdict, line, `${key} is ${quote(raw)}`);
    return verdict === 'unknown_language' ? code : undefined;
  }

  #missing(key: string, line: number): void {
    this.#report.add('missing_prompt_key', line, `${key} is missing`);
  }

  #tell({ verdict, canonical }: PromptVerdict, key: string, raw: string, line: number, allowed: string): void {
    if (verdict === 'canonical') return;
    if (verdict === 'synonym') {
      this.synonyms += 1;
      return;
    }
    const hint = verdict === 'value_not_allowed' && canonical !== undefined ? `${allowed}; --fix writes it` : undefined;
    const told = verdict === 'value_not_allowed' ? { hint: hint ?? allowed } : {};
    this.#report.add(verdict, line, `${key} is ${quote(raw)}${CONSEQUENCES[verdict]}`, told);
  }
}

const YES_OR_NO = 'it is "yes" or "no"';

const CONSEQUENCES = {
  yes_misread: ', which is accepted and then counts as "no"',
  boolean_value: ', a boolean of JSON: the prompt takes strings alone',
  bare_emotion: ': the bare word of the documentation fails, the literal in brackets works',
  value_not_allowed: '',
} as const;
