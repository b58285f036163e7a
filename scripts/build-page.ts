/** Makes `dist/web` of `src/web`: files with hashes in their addresses, and each of them compressed once and for all. */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { type Plugin, build } from 'vite'

const source = fileURLToPath(new URL('../src/web', import.meta.url))

export async function buildPage(directory: string): Promise<void> {
  const { NODE_ENV: before } = process.env
  // With any other, such as that of the tests, Vite makes a page that is larger than the one people get.
  process.env['NODE_ENV'] = 'production'
  try {
    await bundle(directory)
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
  compress(directory)
}

async function bundle(directory: string): Promise<void> {
  await build({
    configFile: false,
    root: source,
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [workerAddress, preloads, onlyLexer, fewerLanguages, shellFiles],
    build: {
      outDir: directory,
      emptyOutDir: true,
      target: ['chrome111', 'firefox114', 'safari16.4'],
      assetsInlineLimit: 0,
      // Its polyfill and its preloads are written for pages that allow more than ours does.
      modulePreload: false,
      rolldownOptions: {
        // On a busy machine every plugin takes long.
        checks: { bundlerTimings: false },
        input: {
          page: join(source, 'index.html'),
          highlight: join(source, 'markdown/highlight-worker.ts'),
          sw: join(source, 'offline/service-worker.ts'),
        },
        output: {
          // The service worker has the page in its scope only from beside it.
          entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'a/[hash]/[name].js'),
          chunkFileNames: 'a/[hash]/[name].js',
          assetFileNames: 'a/[hash]/[name][extname]',
          // The largest package comes beside what uses it, and not within it.
          codeSplitting: { groups: [{ name: 'lexer', test: /[\\/]marked[\\/]/u }] },
        },
      },
    },
  })
}

/** marked makes an instance of all of itself when it is loaded; marked as pure, what only that needs is left out. */
const onlyLexer: Plugin = {
  name: 'only-lexer',
  transform(code, id) {
    if (!/[\\/]marked\.esm\.js$/u.test(id)) return undefined
    return { code: code.replaceAll(/([=,;]\s*)new (\w+)(?=[;,(])/gu, '$1/* @__PURE__ */ new $2'), map: null }
  },
}

/** Grammars that few conversations need are left out of the worker: together they are as much as ten others. */
const SELDOM = ['arduino', 'less', 'vbnet', 'wasm', 'php-template', 'python-repl', 'objectivec', 'perl', 'r', 'graphql']

const fewerLanguages: Plugin = {
  name: 'fewer-languages',
  transform(code, id) {
    if (!/[\\/]lowlight[\\/]lib[\\/]common\.js$/u.test(id)) return undefined
    const imported = new RegExp(`^import (\\w+) from 'highlight\\.js/lib/languages/(?:${SELDOM.join('|')})'$`, 'gmu')
    const names = [...code.matchAll(imported)].map(([, name = '']) => name)
    if (names.length !== SELDOM.length) throw new Error('lowlight names its languages in another way now')
    const listed = new RegExp(`^  (?:'[\\w-]+': )?(?:${names.join('|')}),?$`, 'gmu')
    return { code: code.replaceAll(imported, '').replaceAll(listed, ''), map: null }
  },
}

/** The page starts the worker through its Trusted Types policy, where the bundler cannot see its address. */
const workerAddress: Plugin = {
  name: 'worker-address',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const worker = Object.values(bundle).find(({ fileName }) => fileName.endsWith('/highlight.js'))
      if (worker === undefined) throw new Error('the worker that highlights code was not built')
      return [{ tag: 'meta', attrs: { name: 'highlight-worker', content: `./${worker.fileName}` }, injectTo: 'head' }]
    },
  },
}

/** What the page imports at once comes beside it, and not a round trip later. */
const preloads: Plugin = {
  name: 'preloads',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { chunk, bundle = {} }) {
      const files = new Set(chunk?.imports)
      for (const file of files) {
        const part = bundle[file]
        if (part?.type === 'chunk') for (const one of part.imports) files.add(one)
      }
      const link = (file: string) => ({ rel: 'modulepreload', crossorigin: true, href: `./${file}` })
      return [...files].map((file) => ({ tag: 'link', attrs: link(file), injectTo: 'head' as const }))
    },
  },
}

/** The service worker keeps these. The worker that highlights code is as large as all else, so it comes when it is used. */
const shellFiles: Plugin = {
  name: 'shell-files',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const files = Object.keys(bundle).filter((name) => name.startsWith('a/') && !name.endsWith('/highlight.js'))
      const page = readFileSync(join(source, 'index.html'), 'utf8')
      const version = createHash('sha256')
        .update([page, ...files].join('\n'))
        .digest('hex')
        .slice(0, 16)
      const worker = bundle['sw.js']
      if (worker?.type !== 'chunk' || !worker.code.includes('@shell@')) throw new Error('no service worker was built')
      if (/^import|\bimport\(/mu.test(worker.code)) throw new Error('the service worker must stand alone')
      worker.code = worker.code.replace('@shell@', JSON.stringify({ version, files }))
    },
  },
}

const COMPRESSED = new Set(['.js', '.css', '.html', '.svg', '.webmanifest'])

function compress(directory: string): void {
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSED.has(extname(path))) continue
    const file = join(directory, path)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
  }
}
