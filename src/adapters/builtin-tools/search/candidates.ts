/** Asks ripgrep, where there is one, which files may hold a text. It only saves us from opening the others. */
import { waitAtMost } from '../../../async/with-timeout.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Child, Processes } from '../../../ports/process.ts'
import type { Signal } from '../../../ports/values/signal.ts'

export interface CandidateSearch {
  /** The absolute path of ripgrep. */
  readonly program: string
  /** Letters, digits and `_` only. */
  readonly literal: string
  readonly directory: string
  readonly ignoresCase: boolean
  /** Also what is ignored. */
  readonly ignored: boolean
  readonly processes: Processes
  readonly clock: Clock
  readonly signal: Signal
}

/** Milliseconds; after that every file is opened. */
const RIPGREP_TIMEOUT_MS = 10_000
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024

const FLAGS = [
  '--no-config',
  '--files-with-matches',
  '--null',
  '--text',
  '--hidden',
  '--no-ignore-global',
  '--no-ignore-parent',
  '--no-ignore-exclude',
  '--no-require-git',
  '--no-messages',
]

/** Paths relative to the directory; undefined where ripgrep cannot list them. */
export async function candidateFiles(asking: CandidateSearch): Promise<ReadonlySet<string> | undefined> {
  const { program, literal, directory, ignoresCase, ignored, processes, clock, signal } = asking
  const more = [...(ignoresCase ? ['--ignore-case'] : []), ...(ignored ? ['--no-ignore'] : ['--glob=!.git'])]
  // Also as UTF-16 without a mark, which ripgrep takes for bytes: with a zero between letters.
  const args = [...FLAGS, ...more, '-e', `${literal}|${[...literal].join('\\x00')}`, '--', '.']
  try {
    const child = await processes.spawn({ command: program, args, cwd: directory, env: {} }, signal)
    const answer = await waitAtMost(outputOf(child), { clock, ms: RIPGREP_TIMEOUT_MS, signals: [signal] })
    await child.stop(0)
    return answer === undefined ? undefined : pathsIn(answer)
  } catch (error) {
    if (isParleyError(error, 'COMMAND_NOT_FOUND') || signal.aborted) return undefined
    throw error
  }
}

/** Undefined when it failed: code 1 is that nothing was found. */
async function outputOf(child: Child): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of child.stdout) {
    length += piece.length
    if (length > MAX_OUTPUT_BYTES) return undefined
    pieces.push(piece)
  }
  const { code } = await child.exited
  return code === 0 || code === 1 ? Buffer.concat(pieces) : undefined
}

function pathsIn(answer: Buffer): ReadonlySet<string> {
  return new Set(
    answer
      .toString('utf8')
      .split('\0')
      .map((way) => way.replace(/^\.\//u, '')),
  )
}

const MIN_LITERAL_CHARS = 3

/** Undefined where no such piece is certain. Letters, digits and `_` only: they mean the same to everybody. */
export function literalIn(pattern: string, isLiteral: boolean): string | undefined {
  const pieces = isLiteral ? pattern.split(/\W+/u) : certainPieces(pattern)
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), '')
  return longest.length >= MIN_LITERAL_CHARS ? longest : undefined
}

/** A pattern with alternatives or groups is not analysed. */
function certainPieces(pattern: string): readonly string[] {
  if (/[|()]/u.test(pattern)) return []
  const plain = pattern
    .replaceAll(/\\(?:u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k<[^>]*>|\d+|.)/gu, ' ')
    .replaceAll(/\[[^\]]*\]/gu, ' ')
  // Optional characters, with their quantifier.
  return plain.replaceAll(/.(?:[*?]|\{[^}]*\})/gu, ' ').split(/\W+/u)
}
