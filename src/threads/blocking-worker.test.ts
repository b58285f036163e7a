/** The caller of these tests stands still for each answer. The thread repeats what it is asked. */
import { expect, onTestFinished, test } from 'vitest'
import { BlockingWorker } from './blocking-worker.ts'

const PROGRAM = `import { workerData } from 'node:worker_threads'
const { port, bell } = workerData.end
function say(answered) {
  port.postMessage([answered])
  Atomics.add(bell, 0, 1)
  Atomics.notify(bell, 0)
}
let late
port.on('message', ([[call, kind, ask]]) => {
  if (late !== undefined) say([late, 'late'])
  late = undefined
  if (kind === 'keep') late = call
  if (kind === 'refuse') say([call, null, { code: 'SESSION_NOT_FOUND', details: { session: ask } }])
  if (kind === 'repeat') setImmediate(() => say([call, ask]))
})`

interface Calls {
  readonly repeat: { readonly ask: unknown; readonly answer: unknown }
  readonly refuse: { readonly ask: string; readonly answer: undefined }
  readonly keep: { readonly ask: undefined; readonly answer: undefined }
}

function started(timeoutMs: number): BlockingWorker<Calls> {
  const url = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`)
  const worker = new BlockingWorker<Calls>(url, {}, { timeoutMs })
  onTestFinished(() => worker.close())
  return worker
}

test('a call has its answer when it returns, or throws the error that the thread names', () => {
  const worker = started(60_000)
  expect(worker.call('repeat', { deep: [1, 2] })).toEqual({ answer: { deep: [1, 2] } })
  expect(() => worker.call('refuse', 's-1')).toThrow(expect.objectContaining({ code: 'SESSION_NOT_FOUND' }))
  expect(worker.call('repeat', 3)).toEqual({ answer: 3 })
})

test('a thread that is silent is waited for until the time is over, and what it answers then is no answer to a later call', () => {
  const worker = started(1_000)
  function repeated(value: unknown): unknown {
    for (;;) {
      const answered = worker.call('repeat', value)
      if (answered !== undefined) return answered.answer
    }
  }

  expect(repeated(1)).toBe(1)
  expect(worker.call('keep', undefined)).toBeUndefined()
  expect(repeated(2)).toBe(2)
})
