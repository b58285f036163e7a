/** Finds the programs that Parley itself chooses to run: absolute, and never one that a project brings along. */
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { isWithin } from '../path-rules/path-rules.ts'

const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

/** Implements the port `OwnPrograms`. */
export class ProgramFinder {
  readonly #directories: readonly string[]
  readonly #ending: string
  readonly #found = new Map<string, Promise<readonly FoundProgram[]>>()

  /** A relative or empty entry of PATH means the directory where a command happens to run: the project. */
  constructor(path: string | undefined, platform: NodeJS.Platform = process.platform) {
    this.#ending = platform === 'win32' ? '.exe' : ''
    this.#directories = (path ?? USUAL_PATH).split(delimiter).filter(isAbsolute)
  }

  async find(name: string, roots: readonly string[]): Promise<string | undefined> {
    const found = this.#found.get(name) ?? this.#search(name)
    this.#found.set(name, found)
    const real = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
    const isInside = (file: string) => [...roots, ...real].some((root) => isWithin(file, root))
    return (await found).find((one) => !isInside(one.file) && !isInside(one.real))?.file
  }

  /** Every program of this name, in the order of PATH. */
  async #search(name: string): Promise<readonly FoundProgram[]> {
    const file = `${name}${this.#ending}`
    const all = await Promise.all(this.#directories.map((directory) => executable(join(directory, file))))
    return all.filter((file) => file !== undefined)
  }
}

interface FoundProgram {
  readonly file: string
  /** Without links. The program is run by `file`, because some programs go by the name that they were started with. */
  readonly real: string
}

async function executable(file: string): Promise<FoundProgram | undefined> {
  try {
    await access(file, constants.X_OK)
    const real = await realpath(file)
    return (await stat(real)).isFile() ? { file, real } : undefined
  } catch {
    // A file that cannot be read cannot be run either: look in the next directory.
    return undefined
  }
}
