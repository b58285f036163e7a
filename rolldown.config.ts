/** Bundles the entries that start fast because each loads only what it needs. Native packages stay outside. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type OutputOptions, type Plugin, type RolldownOptions, defineConfig } from 'rolldown'

/** CommonJS, for which alone Node 20 has a code cache. */
const output: OutputOptions = {
  dir: 'dist',
  format: 'cjs',
  entryFileNames: 'chunks/[name]-[hash].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
  sourcemap: false,
  // Without it, what is loaded later would have to be loaded as an ES module.
  dynamicImportInCjs: false,
  comments: { jsdoc: false, annotation: false },
  // Half of the bytes of an installation; names stay, for the stacks in logs and bug reports.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
}

/**
 * Each chunk as the function that `bin/code-cache.cjs` calls; and beside the chunks, under a name that stays, what loads an
 * entry through it. The library is imported.
 */
const doors: Plugin = {
  name: 'doors',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      chunk.code = `(function (exports, require, module, __filename, __dirname) {${chunk.code}\n})\n${sourcesOf(chunk)}`
      if (!chunk.isEntry) continue
      const { name, fileName, exports } = chunk
      if (name === 'index')
        this.emitFile({ type: 'asset', fileName: 'index.mjs', source: libraryDoor(fileName, exports) })
      else this.emitFile({ type: 'asset', fileName: `${name}.cjs`, source: programDoor(fileName) })
    }
  },
}

/** Behind the code: without white space the bundler writes no paths into it. */
function sourcesOf({ modules }: { readonly modules: Readonly<Record<string, unknown>> }): string {
  const paths = Object.keys(modules).map(
    (id) => /(?:src|node_modules)\/.*/.exec(id.slice(import.meta.dirname.length))?.[0],
  )
  return paths.map((path) => (path === undefined ? '' : `// ${path}\n`)).join('')
}

function programDoor(fileName: string): string {
  return `'use strict'
const { join } = require('node:path')
const { load, storeAtExit } = require('../bin/code-cache.cjs')
storeAtExit()
module.exports = load(join(__dirname, '${fileName}'))
`
}

function libraryDoor(fileName: string, names: readonly string[]): string {
  return `import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
const { load } = createRequire(import.meta.url)('../bin/code-cache.cjs')
export const { ${names.join(', ')} } = load(fileURLToPath(new URL('${fileName}', import.meta.url)))
`
}

/**
 * What string-width makes when it is loaded and most commands never need, as it is written there and as it is made on first use:
 * not as a literal, whose tables are looked up by whoever compiles the file around it.
 */
const costly = [
  ['const segmenter = new Intl.Segmenter();', 'segment', 'new Intl.Segmenter()'],
  ['const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;', 'test', String.raw`new RegExp('^\\p{RGI_Emoji}$', 'v')`],
] as const

/** The tables of Unicode behind them take a tenth of the time that a short command takes. */
const madeOnFirstUse: Plugin = {
  name: 'made-on-first-use',
  transform: {
    filter: { id: /[\\/]node_modules[\\/]string-width[\\/]index\.js$/ },
    handler(code) {
      return costly.reduce((text, [eager, method, value]) => {
        if (!text.includes(eager)) throw new Error(`string-width has no ${eager} any more`)
        const [, name] = eager.split(' ')
        const lazy = `let ${name}Made; const ${name} = { ${method}: (text) => (${name}Made ??= ${value}).${method}(text) };`
        return text.replace(eager, () => lazy)
      }, code)
    },
  },
}

const headerFields = join(import.meta.dirname, 'src/adapters/model/http/provider-requests.ts')

/** The `Headers` of Node would load its `fetch`, which no request to a provider uses. */
const withoutFetch: Plugin = {
  name: 'without-fetch',
  transform: {
    filter: { id: /[\\/]node_modules[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.mjs$/ },
    handler: (code) => `import { HeaderFields as Headers } from ${JSON.stringify(headerFields)}\n${code}`,
  },
}

/** What is built, for `parley --version --json`; outside a clone only `PARLEY_COMMIT` can tell. */
function commit(): string {
  const { PARLEY_COMMIT: told } = process.env
  if (told) return told
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

const common: RolldownOptions = {
  platform: 'node',
  transform: { define: { BUILT_COMMIT: JSON.stringify(commit()) } },
  plugins: [madeOnFirstUse, withoutFetch, doors],
  // Its other form loads its parts in a way that no bundler sees.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  // On a busy machine every plugin takes long.
  checks: { bundlerTimings: false },
  external: [/^@photostructure\/sqlite$/, /^@parcel\/watcher$/],
  output,
}

export default defineConfig([
  {
    ...common,
    input: {
      main: 'src/cli/main.ts',
      index: 'src/index.ts',
      'journal-worker': 'src/adapters/journal/sqlite/worker/worker.ts',
      'docs-worker': 'src/docs-search/index/worker/worker.ts',
      'search-worker': 'src/server/compose/search-worker.ts',
      'cluster-reader': 'src/server/cluster/search/reader-worker.ts',
      'check-worker': 'src/adapters/checking/worker.ts',
    },
    output: { ...output, cleanDir: true },
  },
  // An editor waits for it: one file, whatever it has in common with the others.
  { ...common, input: { relay: 'src/cli/relay.ts' } },
  // For browsers as well as for Node.
  {
    platform: 'browser',
    input: { client: 'src/client.ts' },
    output: { ...output, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
  },
])
