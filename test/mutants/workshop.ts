/** A copy of the sources in which a mechanism is taken out and its test is run, while the originals stay as they are. */
import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { carryingText, signal } from '../fixtures/process/running.ts'
import { type Mutant, spoilt } from './mutant.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.types', 'node_modules', 'coverage'])
/** A test that hangs has its own limit, which is less. */
const PATIENCE_MS = 400_000

/** Most of the time of a test that is run alone goes into building programs that it does not start. */
const FROM_SOURCE = `export default {
  cacheDir: '.vite',
  test: {
    // Programs of the fixtures are built from source in no time.
    globalSetup: 'test/directory.setup.ts',
    testTimeout: 25000,
    hookTimeout: 25000,
    expect: { poll: { timeout: 25000 } },
  },
}
`

/** `unclear`: it was not run, or not because of the mechanism; the sentence says what came instead. */
export type Outcome = { readonly is: 'passed' | 'failed' } | { readonly is: 'unclear'; readonly why: string }

type TestName = Mutant['test']

export class Workshop {
  readonly #place: string
  /** Everything that its tests make and start is below it, or has it in its environment. */
  readonly #temporary = mkdtempSync(join(tmpdir(), 'pm-'))

  /** Its tests need nothing that is built, and are run without that. */
  readonly fromSource: boolean

  constructor({ fromSource = false }: { readonly fromSource?: boolean | undefined } = {}) {
    this.fromSource = fromSource
    const around = join(root, '.types')
    mkdirSync(around, { recursive: true })
    this.#place = mkdtempSync(join(around, 'mutants-'))
    for (const name of readdirSync(root))
      if (!LEFT_OUT.has(name))
        cpSync(join(root, name), join(this.#place, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(realpathSync(join(root, 'node_modules')), join(this.#place, 'node_modules'))
    if (fromSource) writeFileSync(join(this.#place, 'vitest.config.ts'), FROM_SOURCE)
  }

  /** Takes the mechanism out, runs the test, and puts it back. */
  async try(mutant: Mutant): Promise<Outcome> {
    const path = join(this.#place, mutant.file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(path, spoilt(source, mutant))
    try {
      return await this.run(mutant.test)
    } finally {
      writeFileSync(path, source)
    }
  }

  /** As the sources are now. */
  async run([file, name]: TestName): Promise<Outcome> {
    const report = join(this.#temporary, 'report.json')
    rmSync(report, { force: true })
    const said = await this.#vitest(['run', file, '-t', patternOf(name), '--reporter=json', `--outputFile=${report}`])
    this.#endWhatIsLeft()
    if (said.includes('cannot be built')) return { is: 'unclear', why: 'it cannot be built' }
    return (
      outcomeIn(report, patternOf(name)) ?? { is: 'unclear', why: `the test did not run: ${said.trim().slice(-300)}` }
    )
  }

  close(): void {
    this.#endWhatIsLeft()
    for (const path of [this.#place, this.#temporary]) rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  }

  #vitest(args: readonly string[]): Promise<string> {
    const program = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    // The cache of modules is that of all runs, and nothing removes a mutant from it.
    const own = ['--root', this.#place, '--experimental.fsModuleCache=false']
    const child = spawn(process.execPath, [program, ...args, ...own], {
      cwd: this.#place,
      env: { ...process.env, TMPDIR: this.#temporary },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    const late = setTimeout(() => void child.kill('SIGKILL'), PATIENCE_MS)
    return new Promise((resolve) => {
      child.on('close', () => {
        clearTimeout(late)
        resolve(said)
      })
    })
  }

  /** Where what ends processes was taken out, somebody else has to. */
  #endWhatIsLeft(): void {
    for (const pid of carryingText(this.#temporary)) signal(pid, 'SIGKILL')
  }
}

/** The name as vitest looks for it; what a table fills in may be anything. */
function patternOf(name: string): string {
  return name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\\\$(\w+)|%[a-z]/g, '.*')
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

function outcomeIn(path: string, pattern: string): Outcome | undefined {
  const report = reportAt(path)
  const named = new RegExp(pattern, 'u')
  const tests = report?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? []
  const states = new Set(tests.filter(({ fullName }) => named.test(fullName)).map(({ status }) => status))
  if (states.has('failed')) return { is: 'failed' }
  return states.has('passed') ? { is: 'passed' } : undefined
}

function reportAt(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    // Vitest came to no end.
    return undefined
  }
}
