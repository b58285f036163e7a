import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/build.setup.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Real processes and disks on small machines: mostly they wait for each other.
    maxWorkers: 3,
    allowOnly: false,
    passWithNoTests: false,
  },
})
