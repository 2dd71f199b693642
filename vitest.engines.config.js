import { defineConfig } from 'vitest/config';

// One file after the other: the schedulers share the machine's cores.
export default defineConfig({
  test: {
    include: ['tests/engines/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
