import { defineConfig } from 'vitest/config'

/** They look at the process that they run in, so no other may have run there. */
const alone = [
  'src/adapters/process/**/*.test.ts',
  ...['mcp', 'builtin-tools', 'tool-registry', 'checking'].map((room) => `src/adapters/${room}/**/*.test.ts`),
  'src/shell-safety/**/*.test.ts',
  'src/workspace/**/*.test.ts',
]

/** What takes the share of many others: `npm run heavy`, which `.ci/run` runs too, and `npm test` does not. */
const heavy = [
  'test/conformance/fuzz/*.test.ts',
  'test/docs-search/killed.test.ts',
  'test/docs-search/judged/*.test.ts',
  'test/e2e/disk.test.ts',
  'test/e2e/server-memory.test.ts',
  'test/e2e/stall.test.ts',
  'test/eval/*.test.ts',
  'test/kill/attached.test.ts',
  'test/kill/kill.test.ts',
  'test/kill/chaos/chaos.test.ts',
  'test/model/kill.test.ts',
  'test/torture/leaks.test.ts',
  'test/torture/many-sessions.test.ts',
]

const common = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What another process does comes when it comes.
  expect: { poll: { timeout: 60_000 } },
  allowOnly: false,
}

export default defineConfig({
  test: {
    globalSetup: ['test/build.setup.ts', 'test/directory.setup.ts'],
    // Real processes and disks on small machines: more than two files at a time only wait for each other.
    maxWorkers: 2,
    passWithNoTests: false,
    projects: [
      // To start a process for each file costs as much as most of these files themselves.
      { test: { ...common, name: 'src', include: ['src/**/*.test.ts'], exclude: alone, isolate: false } },
      { test: { ...common, name: 'alone', include: ['test/**/*.test.ts', ...alone], exclude: heavy } },
      { test: { ...common, name: 'heavy', include: heavy } },
    ],
  },
})
