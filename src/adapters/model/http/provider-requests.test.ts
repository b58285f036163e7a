/** Responses of a server that compresses everything, for any `Accept-Encoding`. */
import { createServer, type ServerResponse } from 'node:http'
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../../test/fixtures/process/loopback-server.ts'
import { systemClock } from '../../clock.ts'
import { HeaderFields, openProviderTransport, RequestWatch } from './provider-requests.ts'

const packers = { gzip: createGzip, deflate: createDeflate, br: createBrotliCompress } as const
type Encoding = keyof typeof packers

/** One answer, said piece by piece. */
interface Packing {
  readonly url: string
  /** Resolves once the words are on their way. */
  begin(words: string): Promise<void>
  end(words: string): void
  cut(): void
}

async function startPacking(encoding: Encoding, status = 200): Promise<Packing> {
  const pack = packers[encoding]()
  let answer: ServerResponse | undefined
  const server = createServer((_request, response) => {
    answer = response.writeHead(status, { 'content-encoding': encoding, 'content-type': 'text/event-stream' })
    answer.flushHeaders()
    pack.on('data', (bytes: Buffer) => answer?.write(bytes))
    pack.on('end', () => answer?.end())
  })
  return {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    async begin(words) {
      pack.write(words)
      await new Promise<void>((resolve) => pack.flush(() => resolve()))
    },
    end: (words) => void pack.end(words),
    cut: () => void answer?.destroy(),
  }
}

async function ask(url: string) {
  const transport = openProviderTransport()
  const asked = new AbortController()
  const watch = new RequestWatch(systemClock, { firstMs: 60_000, nextMs: 60_000, wordsMs: 60_000 }, asked.signal)
  transport.watch(watch)
  onTestFinished(async () => {
    watch.close()
    await transport.close()
  })
  return { response: await transport.fetch(url, { method: 'POST', body: '{}', signal: watch.signal }), asked }
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('utf8')

const whole = ({ body }: Response) => new Response(body).text()

test.each<Encoding>(['gzip', 'deflate', 'br'])('a stream compressed as %s is decoded while it arrives', async (how) => {
  const server = await startPacking(how)
  const asking = ask(server.url)
  await server.begin('data: one\n\n')
  const reader = ((await asking).response.body as ReadableStream<Uint8Array>).getReader()
  expect(text((await reader.read()).value)).toBe('data: one\n\n')
  server.end('data: two\n\n')
  expect(text((await reader.read()).value)).toBe('data: two\n\n')
  expect(await reader.read()).toMatchObject({ done: true })
})

test('a compressed error response can be read', async () => {
  const server = await startPacking('gzip', 429)
  server.end('{"error":"slowly"}')
  const { response } = await ask(server.url)
  expect([response.status, await whole(response)]).toEqual([429, '{"error":"slowly"}'])
})

test('a truncated compressed response is an error, and a cancelled one ends', async () => {
  const server = await startPacking('gzip')
  await server.begin('data: one\n\n')
  const { response } = await ask(server.url)
  server.cut()
  await expect(whole(response)).rejects.toThrow('other side closed')

  const other = await startPacking('gzip')
  await other.begin('data: one\n\n')
  const { response: endless, asked } = await ask(other.url)
  const heard = whole(endless)
  asked.abort()
  await expect(heard).rejects.toThrow('closed')
})

test('header fields are found by any case of their names, and those of one name are one', () => {
  const fields = new HeaderFields({ 'Content-Type': ' text/plain ', Via: 'a' })
  fields.append('via', 'b')
  expect(fields.get('CONTENT-type')).toBe('text/plain')
  expect(Object.fromEntries(fields)).toEqual({ 'content-type': 'text/plain', via: 'a, b' })
  expect([fields.delete('VIA'), fields.has('via')]).toEqual([true, false])
  expect(new HeaderFields(fields).get('content-type')).toBe('text/plain')
})
