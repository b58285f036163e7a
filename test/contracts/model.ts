/** What every model promises, whatever its provider speaks: over real HTTP, from a script. */
import { describe, expect, test } from 'vitest'
import { isParleyError, type ParleyError } from '../../src/errors/parley-error.ts'
import type { AssistantMessage, Model, ModelEnd, ModelMessage, ModelPart, ModelRequest } from '../../src/ports/model.ts'
import type { Failure, Saying, Script } from '../model-server/script.ts'
import type { ModelServer } from '../model-server/server.ts'
import { PerTest } from '../fixtures/process/per-test.ts'

export interface ModelUnderTest {
  readonly model: Model
  readonly server: ModelServer
  close(): Promise<void>
}

export interface ModelStart {
  /** Its key, which must stay secret. */
  readonly key: string
  /** Asks a server that plays this script; it may be silent for as long as it is told, in seconds. */
  start(script: Script, idleSeconds?: number): Promise<ModelUnderTest>
  /** A model of a server that is not there. */
  nowhere(): Promise<Model>
}

const never = new AbortController().signal
const hello: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }]
const tool = { name: 'look', description: 'Looks.', schema: { type: 'object', properties: { at: { type: 'string' } } } }

function request(messages: readonly ModelMessage[] = hello, more: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'You help.', messages, tools: [tool], session: 's-1', signal: never, ...more }
}

async function parts(stream: AsyncIterable<ModelPart>): Promise<readonly ModelPart[]> {
  const all: ModelPart[] = []
  for await (const part of stream) all.push(part)
  return all
}

async function end(stream: AsyncIterable<ModelPart>): Promise<ModelEnd> {
  const last = (await parts(stream)).at(-1)
  if (last?.kind !== 'end') throw new Error('a stream ends with its end')
  return last
}

async function failure(stream: AsyncIterable<ModelPart>): Promise<ParleyError> {
  try {
    await parts(stream)
  } catch (error) {
    if (isParleyError(error)) return error
    throw error
  }
  throw new Error('nothing failed')
}

/** Its text as the model said it. */
function piecesOf(part: ModelPart): readonly string[] {
  return part.kind === 'text' ? (part.pieces ?? [part.text]) : []
}

function calls({ parts: said }: AssistantMessage) {
  return said.filter((part) => part.kind === 'call')
}

/** Its tests may run beside each other. */
export function modelContract(subject: ModelStart): void {
  const opened = new PerTest<ModelUnderTest>(async (models) => {
    for (const model of models) await model.close()
  })
  opened.closeAfterEach()
  const start = async (script: Script, idleSeconds?: number): Promise<ModelUnderTest> => {
    const model = await subject.start(script, idleSeconds)
    opened.add(model)
    return model
  }
  const ask = async (...say: readonly Saying[]): Promise<ModelEnd> => end((await start([say])).model.stream(request()))

  describe('what it says', () => {
    test('comes as it is said, and whole at the end', async () => {
      const { model, server } = await start([[{ text: ['Hel', 'lo'] }, { silence: true }]])
      const heard: string[] = []
      for await (const part of model.stream(request())) {
        heard.push(...piecesOf(part))
        if (heard.length >= 2) break
      }
      expect(heard).toEqual(['Hel', 'lo'])
      await server.quiet()
    })

    test('is a message that tells text from thoughts, in order', async () => {
      const { message, reason } = await ask({ reasoning: ['Hm, ', 'yes.'] }, { text: ['So ', 'it is.'] })
      expect(message.parts).toEqual([
        expect.objectContaining({ kind: 'thought', text: 'Hm, yes.' }),
        { kind: 'text', text: 'So it is.' },
      ])
      expect(reason).toBe('stop')
    })

    test.each([
      ['stop', 'stop'],
      ['length', 'length'],
      ['refusal', 'refusal'],
    ] as const)('ends because of %s', async (stop, reason) => {
      expect((await ask({ text: 'a' }, { stop })).reason).toBe(reason)
    })

    test('costs tokens, and those from a cache are counted', async () => {
      const { usage } = await ask({ text: 'a' }, { usage: { input: 1000, output: 20, cacheRead: 700 } })
      expect(usage).toEqual({ input: 1000, output: 20, cacheRead: 700, cacheWrite: 0 })
    })
  })

  describe('calls', () => {
    test('are announced, parsed, and several at once', async () => {
      const { model } = await start([
        [
          { call: 'look', args: { at: 'a' } },
          { call: 'look', args: { at: 'ü "b"' } },
        ],
      ])
      const all = await parts(model.stream(request()))
      const { message, reason } = all.at(-1) as ModelEnd
      expect(reason).toBe('calls')
      expect(calls(message).map(({ name, args }) => [name, args])).toEqual([
        ['look', { at: 'a' }],
        ['look', { at: 'ü "b"' }],
      ])
      const announced = all.filter((part) => part.kind === 'calling').map(({ id }) => id)
      expect(announced).toEqual(calls(message).map(({ id }) => id))
    })

    test('without arguments have none', async () => {
      const { message } = await ask({ call: 'look' })
      expect(calls(message)).toMatchObject([{ args: {} }])
    })

    test('that are no JSON are kept as they were written', async () => {
      const { message } = await ask({ call: 'look', raw: '{"at": "a' })
      expect(calls(message)).toMatchObject([{ args: {}, malformed: expect.stringContaining('{"at": "a') }])
    })

    test('have ids of their own, though the provider repeats its ids', async () => {
      const { model } = await start([[{ call: 'look', id: 'same' }], [{ call: 'look', id: 'same' }]])
      const first = await end(model.stream(request()))
      const second = await end(model.stream(request(answered(first.message))))
      const ids = [first, second].flatMap(({ message }) => calls(message).map(({ id }) => id))
      expect(new Set(ids).size).toBe(2)
    })

    test('and their results go back together, under ids that fit', async () => {
      const { model, server } = await start([
        [
          { call: 'look', args: { at: 'a' } },
          { call: 'look', args: { at: 'b' } },
        ],
        [{ text: 'done' }],
      ])
      const { message } = await end(model.stream(request()))
      await end(model.stream(request(answered(message))))
      const asked = server.requests[1]?.messages ?? []
      const sent = asked.flatMap((one) => one.calls)
      const results = asked.flatMap((one) => one.results)
      expect(sent.map(({ args }) => args)).toEqual([{ at: 'a' }, { at: 'b' }])
      expect(results.map(({ id }) => id)).toEqual(sent.map(({ id }) => id))
      expect(results.map(({ text }) => text)).toEqual([
        expect.stringContaining('seen 0'),
        expect.stringContaining('seen 1'),
      ])
    })

    test('are offered in their order, with the system prompt', async () => {
      const names = ['zeta', 'alpha', 'mid']
      const { model, server } = await start([[{ text: 'a' }]])
      await end(model.stream(request(hello, { tools: names.map((name) => ({ ...tool, name })) })))
      expect(server.requests[0]).toMatchObject({ tools: names, system: 'You help.' })
    })
  })

  test('what was sent once is sent again unchanged, in front', async () => {
    const steps: Saying[][] = [0, 1, 2, 3].map((n) => [
      { reasoning: `thought ${n}` },
      { text: `step ${n}` },
      { call: 'look', args: { n }, id: `call_${n % 2}` },
      { call: 'look', args: { n, m: 1 } },
    ])
    const { model, server } = await start(steps)
    let messages = hello
    for (const _step of steps) messages = answered((await end(model.stream(request(messages)))).message, messages)
    const bodies = server.requests.map(({ body }) => sentMessages(body))
    for (const [n, body] of bodies.entries()) {
      const before = bodies[n - 1] ?? []
      expect(body.slice(0, before.length)).toEqual(before)
    }
  })

  describe('trouble', () => {
    const codes: readonly (readonly [Failure, string])[] = [
      ['key', 'MODEL_KEY'],
      ['forbidden', 'MODEL_REFUSED'],
      ['unknown-model', 'MODEL_UNKNOWN'],
      ['rate-limit', 'MODEL_RATE_LIMIT'],
      ['quota', 'MODEL_QUOTA'],
      ['overloaded', 'MODEL_OVERLOADED'],
      ['server', 'MODEL_OVERLOADED'],
      ['context', 'MODEL_CONTEXT'],
      ['invalid', 'MODEL_REFUSED'],
    ]

    test.each(codes)('of the kind %s is %s', async (fail, code) => {
      const { model, server } = await start([[{ fail }]])
      expect(await failure(model.stream(request()))).toMatchObject({
        code,
        message: expect.stringContaining(model.name),
      })
      expect(server.requests).toHaveLength(1)
    })

    test.each([
      ['rate-limit', 'MODEL_RATE_LIMIT'],
      ['overloaded', 'MODEL_OVERLOADED'],
    ] as const)('of the kind %s says when to try again', async (fail, code) => {
      const { model } = await start([[{ fail, retryAfter: '7' }]])
      expect(await failure(model.stream(request()))).toMatchObject({ code, details: { retryAfterMs: 7000 } })
    })

    test('in the middle of a stream is the same trouble', async () => {
      const { model } = await start([[{ text: 'a' }, { fail: 'overloaded' }]])
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_OVERLOADED' })
    })

    test.each<[string, readonly Saying[]]>([
      ['that is cut', [{ text: 'a' }, { sleepMs: 1 }, { cut: true }]],
      ['that stops in the middle', [{ text: 'a' }, { over: true }]],
      ['that is no JSON', [{ text: 'a' }, { raw: 'data: {oops\n\n' }]],
      ['that is another JSON', [{ text: 'a' }, { raw: 'data: {"choices":7,"candidates":7,"type":7}\n\n' }]],
      ['of nothing', [{ over: true }]],
    ])('is an answer %s', async (_how, say) => {
      const { model } = await start([say])
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_STREAM' })
    })

    test('is a proxy that answers with a page', async () => {
      const page = '<html><title>502 Bad Gateway</title></html>'
      const { model } = await start([[{ status: 502, body: page }]])
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_OVERLOADED' })
    })

    test('is a page instead of an answer, as from a wrong address', async () => {
      const body = '<!doctype html><title>Log in</title>'
      const { model } = await start([[{ status: 200, body, headers: { 'content-type': 'text/html; charset=utf-8' } }]])
      expect(await failure(model.stream(request()))).toMatchObject({
        code: 'MODEL_REFUSED',
        message: expect.stringContaining('answered with the web page “Log in”'),
      })
    })

    test('is a failure under the name of a success', async () => {
      const failed = (code: number) => [{ status: 200, body: JSON.stringify({ error: { code, message: 'enough' } }) }]
      const { model } = await start([failed(429), failed(400)])
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_RATE_LIMIT' })
      expect(await failure(model.stream(request()))).toMatchObject({
        code: 'MODEL_REFUSED',
        message: expect.stringContaining('enough'),
      })
    })

    test('is reported with the provider’s message, in any of its formats', async () => {
      const bodies = ['{"error":{"message":"no teapots"}}', '{"detail":"no teapots"}', 'no teapots\n']
      const { model } = await start(bodies.map((body) => [{ status: 418, body }]))
      for (const _body of bodies) expect((await failure(model.stream(request()))).message).toContain('no teapots')
    })

    test('is a provider that sends us elsewhere: the key does not go along', async () => {
      const { model, server } = await start((asked) =>
        asked.index === 0 ? [{ status: 307, body: '', headers: { location: '/v1/elsewhere' } }] : [{ text: 'a' }],
      )
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_REFUSED' })
      expect(server.requests).toHaveLength(1)
    })

    test('is an unreachable server', async () => {
      const model = await subject.nowhere()
      expect(await failure(model.stream(request()))).toMatchObject({
        code: 'MODEL_ABSENT',
        message: expect.stringContaining('no server listens there'),
      })
    })

    test('never tells the key, nor an address with one in it', async () => {
      const words = `Your key ${subject.key} is no good at https://me:secret-2@example.com/x?key=secret-3`
      const { model } = await start([[{ fail: 'invalid', words }]])
      const error = await failure(model.stream(request()))
      const told = JSON.stringify([error.message, error.details, error.stack, String(error.cause)])
      for (const secret of [subject.key, 'secret-2', 'secret-3']) expect(told).not.toContain(secret)
      expect(error.message).toContain('is no good at https://example.com/x')
    })
  })

  describe('silence', () => {
    test.each<[string, readonly Saying[]]>([
      ['before the first byte', [{ silence: true }]],
      ['between two words', [{ text: 'a' }, { silence: true }]],
    ])('%s ends the request', async (_when, say) => {
      const { model, server } = await start([say], 0.2)
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_IDLE' })
      await server.quiet()
    })

    test('that only keeps the connection warm ends it too', async () => {
      const pings = Array.from({ length: 400 }, (): Saying[] => [{ raw: ': ping\n\n' }, { sleepMs: 20 }]).flat()
      const { model, server } = await start([[{ text: 'a' }, ...pings]], 0.1)
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_IDLE' })
      await server.quiet()
    })
  })

  describe('cancelling', () => {
    test.each<[string, readonly Saying[]]>([
      ['before the first byte', [{ silence: true }]],
      ['in the middle', [{ text: 'a' }, { silence: true }]],
      ['under a flood', [{ text: 'a', times: 1_000_000 }]],
    ])('%s closes the connection', async (_when, say) => {
      const { model, server } = await start([say])
      const source = new AbortController()
      void server.request(0).then(() => source.abort())
      expect(await failure(model.stream(request(hello, { signal: source.signal })))).toMatchObject({
        code: 'MODEL_CANCELLED',
      })
      await server.quiet()
    })

    test('beforehand asks nothing', async () => {
      const { model, server } = await start([[{ text: 'a' }]])
      const error = await failure(model.stream(request(hello, { signal: AbortSignal.abort() })))
      expect(error).toMatchObject({ code: 'MODEL_CANCELLED' })
      expect(server.requests).toEqual([])
    })

    test('is also who reads no further', async () => {
      const { model, server } = await start([[{ text: 'a', times: 1_000_000 }]])
      for await (const part of model.stream(request())) if (part.kind === 'text') break
      await server.quiet()
    })
  })

  describe('a flood', () => {
    test('of 20,000 chunks arrives whole', async () => {
      const { model } = await start([[{ text: '{n} ', times: 20_000 }]])
      const heard: string[] = []
      for await (const part of model.stream(request())) heard.push(...piecesOf(part))
      expect(heard).toEqual(Array.from({ length: 20_000 }, (_, at) => `${at + 1} `))
    }, 60_000)

    test('waits for who reads slowly', async () => {
      const { model, server } = await start([[{ text: 'x'.repeat(1000), times: 100_000 }]])
      const stream = model.stream(request())[Symbol.asyncIterator]()
      await stream.next()
      await server.stalled(500)
      expect(server.open).toBe(1)
      await stream.return?.()
      await server.quiet()
    }, 60_000)

    test('without an end of line is cut', async () => {
      const { model, server } = await start([[{ text: 'a' }, { raw: 'data: '.padEnd(40 * 1024 * 1024, 'x') }]])
      expect(await failure(model.stream(request()))).toMatchObject({ code: 'MODEL_STREAM' })
      await server.quiet()
    }, 60_000)
  })
}

/** The conversation after this message, each of its calls answered. */
function answered(message: AssistantMessage, before: readonly ModelMessage[] = hello): readonly ModelMessage[] {
  const results = calls(message).map(({ id, name }, n) => ({
    id,
    name,
    content: [{ type: 'text', text: `seen ${n}` } as const],
    isError: false,
  }))
  return [...before, message, { role: 'tool', results }]
}

/** Marks for caches move along; all else stands still. */
function sentMessages(body: Readonly<Record<string, unknown>>): readonly unknown[] {
  const json = JSON.stringify(body['messages'] ?? body['contents'], (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  )
  return JSON.parse(json) as readonly unknown[]
}
