/** Asks the worker for the colours of code. The page never waits for them: code is plain until they come. */
import { scriptAddress } from '../page/trusted-types.ts'

export interface HighlightJob {
  readonly id: number
  readonly language: string
  readonly code: string
}

/** The name of a colour, empty for none, and a text. */
export type Coloured = readonly [colour: string, text: string]

/** A block of this size takes the worker a second; one that is longer stays plain. */
const MAX_CHARS = 50_000

interface Answer {
  readonly id: number
  readonly pieces: readonly Coloured[] | undefined
}

let worker: Worker | undefined
let jobs = 0
const waiting = new Map<number, (pieces: readonly Coloured[] | undefined) => void>()

/** Undefined for a language that is not known. */
export function highlight(language: string, code: string): Promise<readonly Coloured[] | undefined> {
  if (language === '' || code.length > MAX_CHARS) return Promise.resolve(undefined)
  jobs += 1
  const id = jobs
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    started()?.postMessage({ id, language, code } satisfies HighlightJob)
  })
}

/** With the first code that is seen. */
function started(): Worker | undefined {
  if (worker !== undefined) return worker
  const address = scriptAddress('highlight-worker')
  if (address === undefined) return undefined
  worker = new Worker(address as unknown as string, { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data.pieces)
    waiting.delete(data.id)
  })
  return worker
}
