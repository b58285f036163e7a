/** An MCP server over HTTP that sends without end gets only its share of the main thread. */
import { type Server, createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../../test/fixtures/process/loopback-server.ts'
import { until } from '../../../../test/fixtures/process/running.ts'
import { systemClock } from '../../clock.ts'
import { openHttp } from './http.ts'
import { ReadThrottle } from './read-throttle.ts'

function restingClock() {
  const rests: number[] = []
  const sleep: typeof systemClock.sleep = (ms, signal) => {
    if (ms > 0) rests.push(ms)
    return systemClock.sleep(ms, signal)
  }
  return { rests, clock: { ...systemClock, sleep } }
}

function streamOf(chunks: Iterable<string>): Response {
  const source = chunks[Symbol.iterator]()
  const body = new ReadableStream({
    pull(controller) {
      const { value, done } = source.next()
      if (done === true) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function* endless(text: string): Generator<string> {
  for (;;) yield text
}

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'

test.each([
  ['messages', `data: ${NOTE}\n\n`.repeat(700)],
  ['what is no message', 'data: not JSON\r\n\r\n'.repeat(2000)],
  ['nothing at all', '\n'.repeat(60_000)],
  ['a line that does not end', 'x'.repeat(60_000)],
  ['an event that does not end', 'data: x\n'.repeat(8000)],
])('a server that sends %s without end is read with pauses', async (_what, text) => {
  const { rests, clock } = restingClock()
  const reader = new ReadThrottle(clock).throttled(streamOf(endless(text))).body?.getReader()
  while (rests.length < 5) await reader?.read()
  await reader?.cancel()
})

test('occasional events are read at once, and nothing of a stream is lost', async () => {
  const { rests, clock } = restingClock()
  const pace = new ReadThrottle(clock)
  const few = Array.from({ length: 50 }, (_, n) => `id: ${n}\ndata: ${NOTE}\n\n`)
  expect(await pace.throttled(streamOf(few)).text()).toBe(few.join(''))
  expect(rests).toEqual([])
  const much = ['data: a\n\n'.repeat(3000), 'y'.repeat(40_000), '\r\n'.repeat(5000)]
  expect(await pace.throttled(streamOf(much)).text()).toBe(much.join(''))
})

/** Sends pings without end; reads the responses, or leaves them waiting for ever. Returns how many pings were read. */
async function demanding(takesAnswers: boolean): Promise<() => number> {
  const server: Server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pings = 'data: {"jsonrpc":"2.0","id":"p","method":"ping"}\n\n'.repeat(1000)
      const say = (): void => void (response.destroyed || response.write(pings, say))
      return say()
    }
    let body = ''
    request.on('data', (text: Buffer) => (body += text.toString()))
    request.on('end', () => {
      if (takesAnswers || body.includes('notifications/initialized')) response.writeHead(202).end()
    })
  })
  return await hearing(`http://127.0.0.1:${await listenOnLoopback(server)}/`)
}

async function hearing(url: string): Promise<() => number> {
  const events = { onStreamBack: () => undefined, onStreamGone: () => undefined }
  // How long it rests is not what is looked at here.
  const clock = { ...systemClock, sleep: () => systemClock.sleep(0) }
  const context = { clock, events, resumptions: { has: () => false }, onLocked: () => undefined }
  const link = openHttp({ name: 'demanding', type: 'http', url, headers: [] }, context)
  onTestFinished(async () => {
    await link.transport.close()
    await link.destroy()
  })
  let heard = 0
  link.transport.onmessage = () => {
    heard += 1
    link.transport.send({ jsonrpc: '2.0', id: 'p', result: {} }).catch(() => undefined)
  }
  await link.transport.start()
  await link.transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return () => heard
}

test('a server that sends requests without end is read on when it has read the responses', async () => {
  const unanswered = await demanding(false)
  const answered = await demanding(true)
  await until(() => answered() > 250)
  expect(unanswered()).toBeGreaterThan(16)
  expect(unanswered()).toBeLessThan(150)
})
