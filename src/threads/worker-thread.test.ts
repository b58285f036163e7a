/** A call to a thread is always settled, whatever becomes of it. The thread of these tests repeats what it is asked. */
import { expect, onTestFinished, test } from 'vitest'
import { WorkerThread } from './worker-thread.ts'

const PROGRAM = `import { parentPort } from 'node:worker_threads'
parentPort.on('message', (calls) => {
  for (const [call, kind, ask] of calls) {
    if (kind === 'throw') throw new Error(ask)
    if (kind === 'refuse') parentPort.postMessage([[call, null, { code: 'SESSION_NOT_FOUND', details: { session: ask } }]])
    if (kind === 'repeat') parentPort.postMessage([[call, ask]])
  }
})`

interface Calls {
  readonly repeat: { readonly ask: unknown; readonly answer: unknown }
  readonly refuse: { readonly ask: string; readonly answer: undefined }
  readonly throw: { readonly ask: string; readonly answer: undefined }
  readonly silence: { readonly ask: undefined; readonly answer: undefined }
}

function started() {
  const ends: unknown[] = []
  const url = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`)
  const ended = (reason: string, cause: unknown) => (ends.push(cause), new Error(reason))
  const thread = new WorkerThread<Calls>(url, {}, { event: () => undefined, ended })
  onTestFinished(() => thread.terminate())
  return { thread, ends }
}

test('a call is answered, or fails with the error of the thread', async () => {
  const { thread } = started()
  expect(await thread.call('repeat', { deep: [1, 2] })).toEqual({ deep: [1, 2] })
  await expect(thread.call('refuse', 's-1')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})

test('a call fails when the thread throws, and so does every later one', async () => {
  const { thread, ends } = started()
  const [silent, thrown] = [thread.call('silence', undefined), thread.call('throw', 'out of luck')]
  await expect(thrown).rejects.toThrow('out of luck')
  await expect(silent).rejects.toThrow('out of luck')
  await expect(thread.call('repeat', 1)).rejects.toThrow('out of luck')
  expect(ends).toMatchObject([{ message: 'out of luck' }])
})

test('a call fails when the thread is terminated during it', async () => {
  const { thread, ends } = started()
  const silent = thread.call('silence', undefined)
  void thread.terminate()
  await expect(silent).rejects.toThrow('its worker thread ended')
  expect(ends).toEqual([undefined])
})

test('a call with a value that cannot be cloned fails, and the thread continues', async () => {
  const { thread } = started()
  await expect(thread.call('repeat', () => 1)).rejects.toThrow(/could not be cloned/)
  expect(await thread.call('repeat', 2)).toBe(2)
})
