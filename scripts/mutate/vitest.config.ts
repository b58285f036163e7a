/** How `npm run mutate` runs tests: those beside the sources, since a process that a test starts would run code without mutants. */
import { defineConfig } from 'vitest/config'
import { keptThread } from './kept-thread.ts'

export default defineConfig({
  plugins: [keptThread],
  test: {
    include: ['src/session/**/*.test.ts', 'src/edge/acp/**/*.test.ts', 'src/adapters/journal/**/*.test.ts'],
    exclude: ['src/adapters/journal/sqlite/crash.test.ts'],
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
})
