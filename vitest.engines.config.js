import { defineConfig } from 'vitest/config';

// Slurm and Ray side by side: most of the time they wait.
export default defineConfig({
  test: {
    include: ['tests/engines/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
