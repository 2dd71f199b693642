import { countWords } from '../count-words.js';
import type { CutProgress } from '../cut/progress.js';

/** The progress of `cutroom cut` in words. */
export function formatCutProgress(progress: CutProgress): string {
  if (progress.stage === 'cut') return formatCutting(progress);
  if (progress.stage === 'plan') return `planning: ${countWords(progress.rows, 'row')} read`;
  if (progress.stage === 'publish') return 'publishing';
  return `writing the preview: ${count(progress.snippets)} of ${countWords(progress.totalSnippets, 'snippet')}`;
}

function formatCutting(progress: Extract<CutProgress, { stage: 'cut' }>): string {
  const { recordings, totalRecordings, hours, totalHours, resumedHours, seconds } = progress;
  const doneHours = hours - resumedHours;
  const speed = seconds > 0 ? (doneHours * 3600) / seconds : 0;
  const left = speed > 0 ? `, ${duration(((totalHours - hours) * 3600) / speed)} left` : '';
  return (
    `cutting: ${count(recordings)} of ${countWords(totalRecordings, 'recording')}, ` +
    `${hours.toFixed(2)} of ${totalHours.toFixed(2)} h, ${speed.toFixed(0)} × real time${left}`
  );
}

/** 1,234,567 whatever the locale. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/gu, ',');
}

/** `3 s`, `4 min 05 s`, `2 h 03 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}
