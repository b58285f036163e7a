/** Runs patterns in a thread of their own, each for a limited time. */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../../ports/clock.ts'
import type { Signal } from '../../../../ports/signal.ts'
import { refuse } from '../result.ts'

export interface Asked {
  readonly id: number
  readonly source: string
  readonly flags: string
  readonly text: string
  /** Matching lines at most. */
  readonly most: number
}

export interface Matches {
  readonly id: number
  /** Lines count from 1; `at` is where the first match of the line begins. */
  readonly lines: readonly { readonly line: number; readonly at: number }[]
}

export interface Matcher {
  /** Throws when the pattern takes too long on this text, and then for every other text. */
  linesIn(text: string, most: number): Promise<Matches['lines']>
  close(): Promise<void>
}

export interface Pattern {
  readonly source: string
  readonly flags: string
}

export interface Thread {
  readonly workerUrl: URL
  readonly clock: Clock
  readonly signal: Signal
}

/** Milliseconds that a pattern may take for one text. */
const PATIENCE = 3_000

/** Throws what is wrong with it. */
export function patternOf(
  text: string,
  { isLiteral, ignoresCase }: { isLiteral: boolean; ignoresCase: boolean },
): Pattern {
  const source = isLiteral ? text.replaceAll(/[.*+?^${}()|[\]\\/]/gu, '\\$&') : text
  const flags = ignoresCase ? 'iu' : 'u'
  const problem = problemOf({ source, flags })
  if (problem === undefined) return { source, flags }
  // Escapes that mean nothing are only forgiven without the `u`.
  const plain = { source, flags: flags.replace('u', '') }
  if (problemOf(plain) === undefined) return plain
  return refuse(
    `The pattern is no regular expression: ${problem}. Mend it, or set literal to look for the text as it is.`,
  )
}

export function openMatcher({ source, flags }: Pattern, { workerUrl, clock, signal }: Thread): Matcher {
  const worker = new Worker(workerUrl)
  let asked = 0
  return {
    linesIn(text, most) {
      asked += 1
      const id = asked
      return new Promise((resolve, reject) => {
        const end = (): void => {
          timer.cancel()
          worker.off('message', heard).off('error', failed)
          signal.removeEventListener('abort', cancelled)
        }
        const heard = (answer: Matches): void => {
          if (answer.id !== id) return
          end()
          resolve(answer.lines)
        }
        const failed = (error: unknown): void => {
          end()
          void worker.terminate()
          reject(error instanceof Error ? error : new Error('the thread has ended'))
        }
        const cancelled = (): void => failed(new Error('cancelled'))
        const timer = clock.after(PATIENCE, () => failed(new TooSlow()))
        worker.on('message', heard).on('error', failed)
        signal.addEventListener('abort', cancelled, { once: true })
        worker.postMessage({ id, source, flags, text, most } satisfies Asked)
      })
    },
    close: async () => void (await worker.terminate()),
  }
}

/** A pattern that repeats what repeats. */
export class TooSlow extends Error {}

function problemOf({ source, flags }: Pattern): string | undefined {
  try {
    RegExp(source, flags)
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /u, '')
  }
}
