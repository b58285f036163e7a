/** Builds the bundles that tests run, once before all of them, and only when a source is newer than what is there. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, type RolldownOptions, build } from 'rolldown'
import config from '../rolldown.config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

type Input = Readonly<Record<string, string>>

/** vitest calls this before the first test file. */
export async function setup(): Promise<void> {
  await setUpPage()
  if (isFresh()) return
  discard(join(root, 'cache'))
  for (const options of config) {
    const input = present(options.input as Input)
    try {
      await buildInto(dist, { ...options, input })
    } catch {
      for (const [name, source] of Object.entries(input))
        await buildAlone(name, { ...options, input: { [name]: source } })
    }
  }
  execFileSync(process.execPath, [join(root, 'bin/make-code-cache.mjs')])
}

/** The rooms that the page is made of. */
const OF_THE_PAGE = ['web', 'client', 'rpc', 'errors', 'async']

async function setUpPage(): Promise<void> {
  const page = join(dist, 'web')
  const index = join(page, 'index.html')
  const built = existsSync(index) ? statSync(index).mtimeMs : 0
  const parts = [...sources(OF_THE_PAGE), join(root, 'scripts/build-page.ts')]
  if (parts.every((source) => statSync(source).mtimeMs < built)) return
  const draft = mkdtempSync(join(root, 'node_modules', '.parley-page-'))
  try {
    const { buildPage } = await import('../scripts/build-page.ts')
    await buildPage(draft)
    mkdirSync(dist, { recursive: true })
    discard(page)
    renameSync(draft, page)
  } catch (error) {
    console.error('dist/web cannot be built:', error)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Another run may do the same, or write there: what was moved away belongs to this one alone. */
function discard(path: string): void {
  const away = mkdtempSync(join(root, 'node_modules', '.parley-old-'))
  try {
    renameSync(path, join(away, 'old'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  } finally {
    rmSync(away, { recursive: true, force: true, maxRetries: 5 })
  }
}

function present(input: Input): Input {
  return Object.fromEntries(Object.entries(input).filter(([, source]) => existsSync(join(root, source))))
}

/** A bundle that cannot be built fails the tests that run it, which miss it, and no others. */
async function buildAlone(name: string, options: RolldownOptions): Promise<void> {
  try {
    await buildInto(dist, options)
  } catch (error) {
    for (const bundle of bundlesOf(name)) rmSync(bundle, { force: true })
    console.error(`${name} cannot be built:`, error)
  }
}

/** Fresh means that every bundle is there and none is older than any source. */
function isFresh(): boolean {
  const names = config.flatMap(({ input }) => Object.keys(present(input as Input)))
  const bundles = names.map((name) => bundlesOf(name).find(existsSync))
  if (!bundles.every((bundle) => bundle !== undefined)) return false
  const oldest = Math.min(...bundles.map((bundle) => statSync(bundle).mtimeMs))
  return sources().every((source) => statSync(source).mtimeMs < oldest)
}

function bundlesOf(name: string): readonly string[] {
  return ['cjs', 'mjs'].map((kind) => join(dist, `${name}.${kind}`))
}

/** Sources of the bundles, or of some rooms; those of the page are in no bundle. */
function sources(rooms?: readonly string[]): readonly string[] {
  const tree = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const isWanted = (path: string): boolean =>
    rooms === undefined ? !path.startsWith('web/') : rooms.some((room) => path.startsWith(`${room}/`))
  const code = tree.filter(
    (path) => /\.(?:tsx?|css|html|svg)$/u.test(path) && !path.endsWith('.test.ts') && isWanted(path),
  )
  return [...code.map((path) => join('src', path)), 'rolldown.config.ts', 'package-lock.json'].map((path) =>
    join(root, path),
  )
}

/**
 * Builds beside and renames file by file, chunks first: a test that runs meanwhile in another process finds the old bundle or
 * the new one, never half of one. Chunks carry a hash of their content, so the old ones may stay.
 */
async function buildInto(target: string, options: RolldownOptions): Promise<void> {
  const draft = mkdtempSync(join(root, 'node_modules', '.parley-build-'))
  try {
    const output = { ...options.output, dir: draft, cleanDir: false }
    await build({ ...options, cwd: root, output, logLevel: 'silent' } as BuildOptions)
    const files = readdirSync(draft, { recursive: true, encoding: 'utf8' }).filter((file) => /\.[cm]js$/u.test(file))
    for (const file of files.toSorted((a, b) => Number(b.includes('chunks/')) - Number(a.includes('chunks/')))) {
      await mkdir(dirname(join(target, file)), { recursive: true })
      renameSync(join(draft, file), join(target, file))
    }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
