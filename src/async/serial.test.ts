import { expect, test } from 'vitest'
import { SerialQueue, SerialQueues } from './serial.ts'

function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { open, passed }
}

test('work waits for the work before it, also when that fails', async () => {
  const queue = new SerialQueue()
  const order: string[] = []
  const { open, passed } = gate()
  const first = queue.run(async () => {
    await passed
    order.push('first')
    throw new Error('broken')
  })
  const second = queue.run(async () => void order.push('second'))
  open()
  await expect(first).rejects.toThrow('broken')
  await second
  await queue.settled()
  expect(order).toEqual(['first', 'second'])
})

test('work under another key does not wait', async () => {
  const queues = new SerialQueues<string>()
  const order: string[] = []
  const { open, passed } = gate()
  const one = queues.run('a', async () => {
    await passed
    order.push('a1')
  })
  const two = queues.run('a', async () => void order.push('a2'))
  await queues.run('b', async () => void order.push('b'))
  open()
  await Promise.all([one, two])
  expect(order).toEqual(['b', 'a1', 'a2'])
})
