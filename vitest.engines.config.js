import { defineConfig } from 'vitest/config';
import RetryReporter from './tests/support/retry-reporter.js';

// Slurm and Ray side by side: most of the time they wait.
export default defineConfig({
  test: {
    include: ['tests/engines/**/*.test.ts'],
    testTimeout: 120_000,
    // Slurm and Ray stumble themselves now and then where all of them share one busy machine: what fails twice is a fault.
    retry: 1,
    reporters: ['default', new RetryReporter()],
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
