/** Builds the bundles that tests run, once before all of them, and only when a source is newer than what is there. */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'rolldown'
import config from '../rolldown.config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

type Input = Readonly<Record<string, string>>

/** vitest calls this before the first test file. */
export async function setup(): Promise<void> {
  await setUpPage()
  const inputs = config.map(({ input }) => present(input as Input))
  if (isFresh(inputs.flatMap(Object.keys))) return
  for (const input of inputs) {
    try {
      await buildInto(dist, input)
    } catch {
      for (const [name, source] of Object.entries(input)) await buildAlone(name, source)
    }
  }
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
    rmSync(page, { recursive: true, force: true })
    renameSync(draft, page)
  } catch (error) {
    console.error('dist/web cannot be built:', error)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function present(input: Input): Input {
  return Object.fromEntries(Object.entries(input).filter(([, source]) => existsSync(join(root, source))))
}

/** A bundle that cannot be built fails the tests that run it, which miss it, and no others. */
async function buildAlone(name: string, source: string): Promise<void> {
  try {
    await buildInto(dist, { [name]: source })
  } catch (error) {
    rmSync(join(dist, `${name}.mjs`), { force: true })
    console.error(`dist/${name}.mjs cannot be built:`, error)
  }
}

/** Fresh means that every bundle is there and none is older than any source. */
function isFresh(names: readonly string[]): boolean {
  const bundles = names.map((name) => join(dist, `${name}.mjs`))
  if (!bundles.every((bundle) => existsSync(bundle))) return false
  const oldest = Math.min(...bundles.map((bundle) => statSync(bundle).mtimeMs))
  return sources().every((source) => statSync(source).mtimeMs < oldest)
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
async function buildInto(target: string, input: Input): Promise<void> {
  const [common] = config
  const draft = mkdtempSync(join(root, 'node_modules', '.parley-build-'))
  try {
    const output = { ...common?.output, dir: draft, cleanDir: false }
    await build({ ...common, cwd: root, input, output, logLevel: 'silent' } as BuildOptions)
    const files = readdirSync(draft, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'))
    for (const file of files.toSorted((a, b) => Number(b.includes('chunks/')) - Number(a.includes('chunks/')))) {
      await mkdir(dirname(join(target, file)), { recursive: true })
      renameSync(join(draft, file), join(target, file))
    }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
