import { readFile } from 'node:fs/promises';
import { InputError, errorMessage, systemCode } from '../errors.js';

/** What one step of a training took, as it was measured. */
export interface MemoryPoint {
  /** Longest item of the batch. */
  seconds: number;
  batchSize: number;
  memoryBytes: number;
}

/** Memory of a step as base + batchSize · (linear · seconds + quadratic · seconds²), in bytes; no coefficient is below 0. */
export interface MemoryModel {
  baseBytes: number;
  linearBytes: number;
  quadraticBytes: number;
  points: readonly MemoryPoint[];
  limitBytes: number;
  /** Root of the mean square of (measured / model - 1) over the points. */
  residualShare: number;
  /** The most that a measured point lies above the model, as a share of the model: so much is kept free. */
  reserveShare: number;
}

/** The batch size that fits a bucket. */
export interface ProposedBatchSize {
  /** 0 where not even one item fits. */
  batchSize: number;
  /** Memory that the model expects, without the reserve. */
  memoryBytes: number;
  /** In what the proposal lies outside of what was measured. */
  beyond: readonly ('seconds' | 'batchSize' | 'memory')[];
}

const MIN_POINTS = 4;
/** A point that the model misses by more says that the model does not hold. */
const MAX_MISS = 0.2;
/** Memory of a step that is larger in all is never smaller by more: allocators round. */
const MAX_DROP = 0.05;
/** Columns whose normalised Gram determinant is below tell nothing apart. */
const MIN_DETERMINANT = 1e-6;
/** A larger batch is no batch. */
const MAX_BATCH_SIZE = 1_000_000;
const HINT = 'It is {"points": [{"seconds": 5, "batchSize": 32, "memoryBytes": 9e9}, …], "limitBytes": 40e9}.';

/**
 * Reads the measured points of a file and fits the model.
 *
 * @throws {InputError} when the file cannot be read, is no such JSON, has too few points, or points that contradict each other.
 */
export async function readMemoryModel(path: string): Promise<MemoryModel> {
  const refuse = (state: string, hint: string, cause?: unknown): InputError =>
    new InputError(`Cannot take memory from "${path}": ${state}`, { path, hint, cause });
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw refuse(systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error), HINT, error);
  }
  const found = readPoints(value);
  if (typeof found === 'string') throw refuse(found, HINT);
  const model = fitMemoryModel(found.points, found.limitBytes);
  if ('problem' in model) throw refuse(model.problem, model.hint);
  return model;
}

function readPoints(value: unknown): { points: MemoryPoint[]; limitBytes: number } | string {
  if (!isObject(value)) return 'it holds no object';
  const { points, limitBytes } = value;
  if (!Array.isArray(points)) return '"points" is no list';
  if (!isAboveZero(limitBytes)) return '"limitBytes" is no number above 0';
  const read: MemoryPoint[] = [];
  for (const [at, point] of points.entries()) {
    if (!isObject(point)) return `point ${at + 1} is no object`;
    const { seconds, batchSize, memoryBytes } = point;
    if (!isAboveZero(seconds)) return `"seconds" of point ${at + 1} is no number above 0`;
    if (!isAboveZero(batchSize) || !Number.isInteger(batchSize)) {
      return `"batchSize" of point ${at + 1} is no whole number of 1 or more`;
    }
    if (!isAboveZero(memoryBytes)) return `"memoryBytes" of point ${at + 1} is no number above 0`;
    read.push({ seconds, batchSize, memoryBytes });
  }
  return { points: read, limitBytes };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAboveZero(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** Why points give no model. */
export interface UnfitPoints {
  problem: string;
  hint: string;
}

/**
 * Fits the model by least squares of the relative error, no coefficient below 0.
 *
 * @param points finite numbers above 0
 * @returns the model, or why there is none: fewer than 4 points, all of one duration or of one batch size, a larger step that took less memory
 * than a smaller one, or points that the model misses by more than a fifth
 */
export function fitMemoryModel(points: readonly MemoryPoint[], limitBytes: number): MemoryModel | UnfitPoints {
  const hint = 'Measure at least 4 steps: short and long items, each in small and large batches.';
  if (points.length < MIN_POINTS) return { problem: `${points.length} points are too few to judge a fit by`, hint };
  if (new Set(points.map(({ seconds }) => seconds)).size < 2) return { problem: 'all points have one duration', hint };
  if (new Set(points.map(({ batchSize }) => batchSize)).size < 2) {
    return { problem: 'all points have one batch size', hint };
  }
  const contradiction = findContradiction(points);
  if (contradiction !== undefined) return contradiction;
  // Each row is divided by its measured memory: a miss of a tenth counts the same in small steps and in large ones.
  const rows = points.map(({ seconds, batchSize, memoryBytes }) =>
    [1, batchSize * seconds, batchSize * seconds * seconds].map((value) => value / memoryBytes),
  );
  const coefficients = solveNonNegative(rows);
  if (coefficients === undefined)
    return { problem: 'the points do not tell base, duration and its square apart', hint };
  const [baseBytes = 0, linearBytes = 0, quadraticBytes = 0] = coefficients;
  const model: MemoryModel = {
    ...{ baseBytes, linearBytes, quadraticBytes, points, limitBytes },
    ...{ residualShare: 0, reserveShare: 0 },
  };
  const misses = points.map((point) => point.memoryBytes / memoryOf(model, point.seconds, point.batchSize) - 1);
  const worst = misses.reduce((at, miss, index) => (Math.abs(miss) > Math.abs(misses[at] ?? 0) ? index : at), 0);
  if (!(Math.abs(misses[worst] ?? 0) <= MAX_MISS)) {
    const point = points[worst]!;
    const expected = memoryOf(model, point.seconds, point.batchSize);
    return {
      problem: `${describe(point)}, but the model that fits all points best says ${gigabytes(expected)}`,
      hint: 'Measure that point again; memory that other steps left behind does not belong to it.',
    };
  }
  const residualShare = Math.sqrt(misses.reduce((sum, miss) => sum + miss * miss, 0) / misses.length);
  return { ...model, residualShare, reserveShare: Math.max(0, ...misses) };
}

function findContradiction(points: readonly MemoryPoint[]): UnfitPoints | undefined {
  for (const small of points) {
    const large = points.find(
      (point) =>
        point.seconds >= small.seconds &&
        point.batchSize >= small.batchSize &&
        point.memoryBytes < small.memoryBytes * (1 - MAX_DROP),
    );
    if (large === undefined) continue;
    return {
      problem: `${describe(large)}, and ${describe(small)}: the larger step took less`,
      hint: 'Measure both again, each in a fresh process.',
    };
  }
  return undefined;
}

function describe({ seconds, batchSize, memoryBytes }: MemoryPoint): string {
  return `${batchSize} × ${seconds} s took ${gigabytes(memoryBytes)}`;
}

/** `12.3 GB`, of 10^9 bytes. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toPrecision(3)} GB`;
}

/** Memory that the model expects of a step, in bytes. */
export function memoryOf(model: MemoryModel, seconds: number, batchSize: number): number {
  const { baseBytes, linearBytes, quadraticBytes } = model;
  return baseBytes + batchSize * (linearBytes * seconds + quadraticBytes * seconds * seconds);
}

/** The largest batch of items of so many seconds that stays below the limit, with as much in reserve as a measured point lay above the model. */
export function proposeBatchSize(model: MemoryModel, seconds: number): ProposedBatchSize {
  const room = model.limitBytes / (1 + model.reserveShare) - model.baseBytes;
  const each = memoryOf(model, seconds, 1) - model.baseBytes;
  const batchSize = Math.min(MAX_BATCH_SIZE, Math.max(0, Math.floor(room / each)));
  const memoryBytes = memoryOf(model, seconds, batchSize);
  const durations = model.points.map((point) => point.seconds);
  const beyond: ('seconds' | 'batchSize' | 'memory')[] = [];
  if (seconds > Math.max(...durations) || seconds < Math.min(...durations)) beyond.push('seconds');
  if (batchSize > Math.max(...model.points.map((point) => point.batchSize))) beyond.push('batchSize');
  if (memoryBytes > Math.max(...model.points.map((point) => point.memoryBytes))) beyond.push('memory');
  return { batchSize, memoryBytes, beyond };
}

/**
 * The x >= 0 that brings each row · x nearest to 1; undefined where the columns do not determine it. With three columns all sets of those that
 * are 0 can be tried, and the best is the solution (Lawson and Hanson, "Solving least squares problems", 23).
 */
function solveNonNegative(rows: readonly (readonly number[])[]): number[] | undefined {
  const scales = [0, 1, 2].map((column) => Math.hypot(...rows.map((row) => row[column]!)));
  const scaled = rows.map((row) => row.map((value, column) => value / scales[column]!));
  if (gramDeterminant(scaled) < MIN_DETERMINANT) return undefined;
  let best: { x: number[]; error: number } | undefined;
  for (let set = 1; set < 8; set += 1) {
    const columns = [0, 1, 2].filter((column) => (set >> column) % 2 === 1);
    const x = solve(scaled, columns);
    if (x === undefined || x.some((value) => value < 0)) continue;
    const error = scaled.reduce((sum, row) => sum + (row.reduce((dot, v, at) => dot + v * x[at]!, 0) - 1) ** 2, 0);
    // Nothing that grows with the batch is no model of batches.
    if (set > 1 && (best === undefined || error < best.error)) best = { x, error };
  }
  return best?.x.map((value, column) => value / scales[column]!);
}

function gramDeterminant(rows: readonly (readonly number[])[]): number {
  const dot = (a: number, b: number): number => rows.reduce((sum, row) => sum + row[a]! * row[b]!, 0);
  const [ab, ac, bc] = [dot(0, 1), dot(0, 2), dot(1, 2)];
  return 1 + 2 * ab * ac * bc - ab * ab - ac * ac - bc * bc;
}

/** Least squares over some columns, by the modified Gram-Schmidt process; the others are 0. */
function solve(rows: readonly (readonly number[])[], columns: readonly number[]): number[] | undefined {
  const basis: number[][] = [];
  const upper: number[][] = [];
  for (const column of columns) {
    let vector = rows.map((row) => row[column]!);
    const projections: number[] = [];
    for (const unit of basis) {
      const projection = dotOf(unit, vector);
      projections.push(projection);
      vector = vector.map((value, at) => value - projection * unit[at]!);
    }
    const length = Math.sqrt(dotOf(vector, vector));
    if (length === 0) return undefined;
    upper.push([...projections, length]);
    basis.push(vector.map((value) => value / length));
  }
  const x = [0, 0, 0];
  for (let at = columns.length - 1; at >= 0; at -= 1) {
    let value = basis[at]!.reduce((sum, unit) => sum + unit, 0);
    for (let later = at + 1; later < columns.length; later += 1) value -= upper[later]![at]! * x[columns[later]!]!;
    x[columns[at]!] = value / upper[at]!.at(-1)!;
  }
  return x;
}

function dotOf(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}
