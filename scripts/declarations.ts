/** The types that the package publishes: the declarations that its exported entries reach, in `dist/types`. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')

/** Below `src`; `package.json` exports the same. */
const ENTRIES = ['index', 'client']

/** Throws what the compiler says when it cannot write them. Types are not checked here: `npm run check` does that. */
export function emitDeclarations(target: string): void {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'parley-types-'))
  try {
    compile(work)
    rmSync(target, { recursive: true, force: true })
    for (const path of reached(work)) {
      const to = join(target, relative(work, path))
      mkdirSync(dirname(to), { recursive: true })
      cpSync(path, to)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function compile(work: string): void {
  const config = join(work, 'tsconfig.json')
  const compilerOptions = {
    composite: false,
    declaration: true,
    incremental: false,
    noCheck: true,
    rootDir: source,
    outDir: work,
    lib: ['ES2023', 'ESNext.Disposable', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    types: ['node'],
  }
  const files = ENTRIES.map((entry) => join(source, `${entry}.ts`))
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`tsc could not write the declarations: ${stdout}${stderr}`)
}

/** The declarations of the entries, and all that they import. */
function reached(work: string): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)\.ts'/gu))
      visit(`${resolve(dirname(path), specifier)}.d.ts`)
  }
  for (const entry of ENTRIES) visit(join(work, `${entry}.d.ts`))
  return found
}
