import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: ['test/build.setup.ts', 'test/directory.setup.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What another process does comes when it comes.
    expect: { poll: { timeout: 60_000 } },
    // Real processes and disks on small machines: two files at a time are enough.
    maxWorkers: 2,
    allowOnly: false,
    passWithNoTests: false,
  },
})
