/** Bundles the entries that start fast because each loads only what it needs. Native packages stay outside. */
import { defineConfig } from 'rolldown'

export default defineConfig({
  input: {
    relay: 'src/cli/relay.ts',
    main: 'src/cli/main.ts',
    index: 'src/index.ts',
    'journal-worker': 'src/adapters/journal/sqlite/worker.ts',
    'docs-worker': 'src/docs-server/index/worker.ts',
  },
  platform: 'node',
  external: [/^@photostructure\/sqlite$/, /^@parcel\/watcher$/],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name]-[hash].mjs',
    cleanDir: true,
    sourcemap: false,
  },
})
