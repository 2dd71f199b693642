import { countWords } from '../count-words.js';
import { rowOfDraw } from '../sample/draw-row.js';
import type { Draw, SamplePlan } from '../sample/sample-plan.js';
import { count } from './cut-progress.js';

/** How a draw comes about: of which group, file and slot, and by which seeds. */
export function formatExplanation(plan: SamplePlan, drawn: Draw, padMode: string): string {
  const { draw, epoch, index, window } = drawn;
  const { slots, seeds, recordings, reach, group, own, balance } = partsOf(plan, drawn);
  const { file, slot, slotInFile, startFrame, frames, windowFrames } = window;
  const rate = recordings.sampleRate(file);
  const at = (frame: number): string => `${seconds(frame / rate)} (frame ${count(frame)})`;
  const channels = recordings.channels(file);
  const rows: [string, string][] = [];
  if (group.name !== '') rows.push(['group', group.name]);
  if (balance !== undefined) {
    rows.push(['weight', `${group.weight}: ${count(balance.weight)} of ${countWords(balance.period, 'draw')}`]);
    rows.push([
      'in the group',
      `draw ${count(window.index)}: epoch ${own.epoch}, place ${count(own.position)} of ${count(slots.length)}`,
    ]);
  }
  rows.push(
    ['file', recordings.path(file)],
    ['length', `${seconds(recordings.frames(file) / rate)}, ${count(rate)} Hz, ${countWords(channels, 'channel')}`],
    [
      'slot',
      `${count(slot)} of ${count(slots.length)}; ${slotInFile} of ${slots.slotsOf(file)} in the file, which holds ${countWords(slots.naturalWindows(file), 'window')}`,
    ],
    [
      'its starts',
      `from ${at(reach.first)} to ${at(reach.last)}${group.kept === undefined ? '' : ', where it is loud enough'}`,
    ],
    ['offset', at(startFrame)],
    ['window', `${seconds(windowFrames / rate)}, ${countWords(windowFrames, 'frame')}`],
    ['padding', frames === windowFrames ? 'none' : `${seconds((windowFrames - frames) / rate)}, ${padMode}`],
    [
      'seeds',
      `order ${seeds.shuffle}, offset ${seeds.excerpt}${seeds.group === '' ? '' : `, of the group "${seeds.group}"`}`,
    ],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `Draw ${count(draw)}: epoch ${epoch}, index ${count(index)} of ${count(plan.epochLength)}`,
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
  ].join('\n');
}

/** The same as plain data. */
export function explanationAsJson(plan: SamplePlan, drawn: Draw): Record<string, unknown> {
  const { window } = drawn;
  const { slots, seeds, recordings, reach, group, own, balance } = partsOf(plan, drawn);
  return {
    ...rowOfDraw(plan, drawn),
    ...(balance === undefined
      ? {}
      : { weight: group.weight, whole_weight: balance.weight, period: balance.period, group_draw: window.index }),
    group_epoch: own.epoch,
    group_position: own.position,
    file_frames: recordings.frames(window.file),
    channels: recordings.channels(window.file),
    window_frames: window.windowFrames,
    slot: window.slot,
    slots: slots.length,
    slot_in_file: window.slotInFile,
    slots_in_file: slots.slotsOf(window.file),
    natural_windows: slots.naturalWindows(window.file),
    first_start_frame: reach.first,
    last_start_frame: reach.last,
    shuffle_seed: seeds.shuffle,
    excerpt_seed: seeds.excerpt,
  };
}

function partsOf(plan: SamplePlan, { group: at, window }: Draw) {
  const group = plan.groups[at]!;
  const { slots, recordings, seeds } = plan.plans[at]!;
  const { file, slotInFile, epoch, position } = window;
  const balance = plan.balance && { weight: plan.balance.weights[at]!, period: plan.balance.period };
  return {
    group,
    slots,
    recordings,
    seeds,
    balance,
    own: { epoch, position },
    /** The first and the last frame at which windows of the slot start. */
    reach: { first: slots.startFrame(file, slotInFile, 0), last: slots.startFrame(file, slotInFile, 1) },
  };
}

/** Milliseconds do for what is read; frames are beside them. */
function seconds(value: number): string {
  return `${Number(value.toFixed(3))} s`;
}
