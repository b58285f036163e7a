/** Bundles the entries that start fast because each loads only what it needs. Native packages stay outside. */
import { type OutputOptions, type RolldownOptions, defineConfig } from 'rolldown'

const output: OutputOptions = {
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].mjs',
  chunkFileNames: 'chunks/[name]-[hash].mjs',
  sourcemap: false,
}
const common: RolldownOptions = {
  platform: 'node',
  external: [/^@photostructure\/sqlite$/, /^@parcel\/watcher$/],
  output,
}

export default defineConfig([
  {
    ...common,
    input: {
      main: 'src/cli/main.ts',
      index: 'src/index.ts',
      'journal-worker': 'src/adapters/journal/sqlite/worker.ts',
      'docs-worker': 'src/docs-server/index/worker.ts',
      'search-worker': 'src/server/search-worker.ts',
      'pattern-worker': 'src/adapters/tools/builtin/search/worker.ts',
    },
    output: { ...output, cleanDir: true },
  },
  // An editor waits for it: one file, whatever it has in common with the others.
  { ...common, input: { relay: 'src/cli/relay.ts' } },
])
