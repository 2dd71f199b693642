import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leafWeights } from '#cutroom/load/leaf-shares.js';
import { flattenSources } from '#cutroom/load/source-tree.js';
import type { SourceSpec } from '#cutroom/load/sources.js';

/** Weights in hundredths, so that shares can be counted in whole numbers. */
interface Tree {
  hundredths: number;
  children: Tree[];
}

const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record(
    {
      hundredths: fc.integer({ min: 1, max: 500 }),
      children: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'tree' },
        fc.constant<Tree[]>([]),
        fc.array(tie('tree'), { minLength: 1, maxLength: 4, depthIdentifier: 'tree' }),
      ),
    },
    { noNullPrototype: true },
  ),
})).tree;

let names = 0;

function toSpec({ hundredths, children }: Tree): SourceSpec {
  const weight = hundredths / 100;
  if (children.length > 0) return { type: 'group', weight, sources: children.map(toSpec) };
  names += 1;
  return { type: 'nemo', name: `leaf ${names}`, weight, manifests: ['a'] };
}

function sharesOf({ children }: Tree, share: number): number[] {
  if (children.length === 0) return [share];
  const sum = children.reduce((total, { hundredths }) => total + hundredths, 0);
  return children.flatMap((child) => sharesOf(child, (share * child.hundredths) / sum));
}

describe('leafWeights()', () => {
  test('gives each leaf the product of its shares of all levels', () => {
    fc.assert(
      fc.property(tree, (root) => {
        const flat = flattenSources(toSpec(root));
        const weights = leafWeights(
          flat.root,
          flat.leaves,
          flat.leaves.map(() => 1),
        );
        const expected = sharesOf(root, 1);
        if (expected.length === 1) {
          expect(weights).toEqual([undefined]);
          return;
        }
        const numbers = weights.map(Number);
        const sum = numbers.reduce((total, weight) => total + weight, 0);
        for (const [at, share] of expected.entries()) expect(numbers[at]! / sum).toBeCloseTo(share, 10);
        expect(weights.every((weight) => /^\d+$/u.test(String(weight)))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('has no error of doubles: a third of a third of 0.1 against 0.3', () => {
    const three = (weight: number | string): SourceSpec[] => {
      return [1, 2, 3].map((): SourceSpec => ({ type: 'nemo', manifests: ['a'], weight }));
    };
    const spec: SourceSpec = {
      type: 'group',
      sources: [
        { type: 'group', weight: 0.1, sources: three('0.333333333333333333333') },
        { type: 'nemo', manifests: ['b'], weight: 0.3 },
      ],
    };
    const { root, leaves } = flattenSources(spec);
    expect(leafWeights(root, leaves, [1, 1, 1, 1])).toEqual([1, 1, 1, 9]);
  });
});
