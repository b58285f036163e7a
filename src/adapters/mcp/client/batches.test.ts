/** Streams of events that are taken apart: nothing of an event is kept back, however its bytes arrive. */
import { describe, expect, test } from 'vitest'
import { withoutBatches } from './batches.ts'

/** What has come out after each piece that went in. */
async function cameOut(pieces: readonly string[]): Promise<readonly string[]> {
  const source = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': 'text/event-stream' }
  const { body } = await withoutBatches(new Response(source.readable, { headers }))
  const [reader, writer] = [body?.getReader(), source.writable.getWriter()]
  const decoder = new TextDecoder()
  const said: string[] = []
  const reading = (async () => {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {}
      if (done) return
      said.push(decoder.decode(value))
    }
  })()
  for (const piece of pieces) await writer.write(new TextEncoder().encode(piece))
  await writer.close()
  await reading
  return said
}

describe('an event whose lines end with a carriage return and a line feed', () => {
  test('comes out whole where the last line feed arrives later', async () => {
    expect(await cameOut(['data: {"a":1}\r\n\r', '\n'])).toEqual(['data: {"a":1}\r\n\r\n'])
  })

  test('comes out whole wherever it is cut', async () => {
    const event = 'event: message\r\ndata: {"a":1}\r\n\r\n'
    for (let cut = 1; cut < event.length; cut += 1)
      expect([cut, await cameOut([event.slice(0, cut), event.slice(cut)])]).toEqual([cut, [event]])
  })

  test('is taken apart where its array stands in several lines', async () => {
    const said = await cameOut(['event: message\r\ndata: [{"a":1},\r\ndata: {"b":2}]\r\n\r\n'])
    expect(said.join('')).toBe('event: message\ndata: {"a":1}\n\nevent: message\ndata: {"b":2}\n\n')
  })
})

test.each(['\n', '\r\n'])('an array is taken apart where lines end with %j', async (end) => {
  const said = await cameOut([`data: [{"a":1},{"b":2}]${end}${end}`])
  expect(said.join('')).toBe('data: {"a":1}\n\ndata: {"b":2}\n\n')
})
