/** A server's journal, models and tools, each with what telemetry needs around some of its methods. The core sees no difference. */
import type { Clock } from '../../ports/clock.ts'
import type { Append, Journal } from '../../ports/journal.ts'
import type { Model, ModelPart, ModelRequest, ModelUsage, Models } from '../../ports/model.ts'
import type { ToolCallOptions, ToolHost, ToolRegistry, ToolResult } from '../../ports/tools.ts'
import type { Attributes, SpanContext, Telemetry } from '../../ports/values/telemetry.ts'
import { isParleyError } from '../../errors/parley-error.ts'
import { decodeEntry } from '../../session/domain/entries.ts'
import { APPEND_DURATION, OPERATION_DURATION, TOKEN_USAGE } from './metrics.ts'
import { type SessionSpans, hex } from './session-spans.ts'

export interface WatchedOptions {
  readonly telemetry: Telemetry
  readonly spans: SessionSpans
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

interface Ended {
  readonly name: string
  readonly started: Started
  readonly session: string
  readonly attributes: Attributes
  readonly error?: string | undefined
}

interface Started {
  readonly at: number
  readonly mark: number
  /** Undefined for work outside of a turn. */
  readonly parent: SpanContext | undefined
}

export class Watched {
  readonly #options: WatchedOptions

  constructor(options: WatchedOptions) {
    this.#options = options
  }

  journal<Watching extends Journal>(journal: Watching): Watching {
    const { spans } = this.#options
    return withMethods(journal, {
      append: async (append: Append) => {
        const started = this.#start(append.row.id)
        await journal.append(append)
        this.#attempt(() => this.#appended(append, started))
      },
      delete: async (id: string) => {
        spans.forget(id)
        return journal.delete(id)
      },
    })
  }

  models<Watching extends Models>(models: Watching): Watching {
    return withMethods(models, {
      open: async (name: string) => {
        const model = await models.open(name)
        return withMethods(model, { stream: (request: ModelRequest) => this.#stream(model, request) })
      },
    })
  }

  tools<Watching extends ToolHost>(host: Watching): Watching {
    return withMethods(host, {
      open: (request: Parameters<ToolHost['open']>[0]) => {
        const registry = host.open(request)
        return withMethods(registry, {
          call: (name: string, args: unknown, options: ToolCallOptions) =>
            this.#call(registry, { name, args, options, session: request.scope }),
        })
      },
    })
  }

  #appended({ row, entries }: Append, started: Started): void {
    const { telemetry, spans } = this.#options
    telemetry.record(APPEND_DURATION, this.#secondsSince(started), {})
    spans.stored(row.id, row.agent, entries.map(decodeEntry))
  }

  async *#stream(model: Model, request: ModelRequest): AsyncGenerator<ModelPart> {
    const started = this.#start(request.session)
    const [provider = '', ...rest] = model.name.split(':')
    const name = rest.join(':')
    const labels = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': name,
    }
    let more: Attributes = {}
    let error: string | undefined
    try {
      for await (const part of model.stream(request)) {
        if (part.kind === 'end') more = this.#used(request.session, labels, part)
        yield part
      }
    } catch (thrown) {
      error = classOf(thrown)
      throw thrown
    } finally {
      const { session } = request
      this.#ended({ name: `chat ${name}`, started, session, attributes: { ...labels, ...more }, error })
      this.#duration(started, labels, error)
    }
  }

  #used(session: string, labels: Attributes, { usage, reason }: EndPart): Attributes {
    const { telemetry, spans } = this.#options
    this.#attempt(() => {
      telemetry.record(TOKEN_USAGE, usage.input, { ...labels, 'gen_ai.token.type': 'input' })
      telemetry.record(TOKEN_USAGE, usage.output, { ...labels, 'gen_ai.token.type': 'output' })
      spans.used(session, usage)
    })
    return {
      'gen_ai.response.finish_reasons': [reason],
      'gen_ai.usage.input_tokens': usage.input,
      'gen_ai.usage.output_tokens': usage.output,
    }
  }

  async #call(registry: ToolRegistry, { name, args, options, session }: Calling): Promise<ToolResult> {
    const toolCallId = options.caller?.toolCallId
    if (toolCallId !== undefined) this.#options.spans.runs(session, toolCallId, name)
    const tool = registry.list().tools.find((one) => one.name === name)
    if (tool === undefined || tool.builtin) return registry.call(name, args, options)
    const started = this.#start(session, toolCallId)
    let error: string | undefined
    try {
      const result = await registry.call(name, args, options)
      if (result.isError) error = 'tool_error'
      return result
    } catch (thrown) {
      error = classOf(thrown)
      throw thrown
    } finally {
      const attributes = {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': tool.serverToolName,
        'parley.mcp.server': tool.server,
      }
      this.#ended({ name: `tools/call ${tool.serverToolName}`, started, session, attributes, error })
    }
  }

  #ended({ name, started, session, attributes, error }: Ended): void {
    const { telemetry, clock } = this.#options
    this.#attempt(() => {
      const { parent } = started
      telemetry.span({
        traceId: parent?.traceId ?? hex(clock.id()),
        spanId: hex(clock.id()).slice(16),
        ...(parent !== undefined && { parentId: parent.spanId }),
        name,
        kind: 'client',
        startedAt: started.at,
        endedAt: started.at + this.#secondsSince(started) * 1000,
        attributes: { ...attributes, 'gen_ai.conversation.id': session },
        ...(error !== undefined && { error }),
      })
    })
  }

  #duration(started: Started, labels: Attributes, error: string | undefined): void {
    const attributes = error === undefined ? labels : { ...labels, 'error.type': error }
    this.#attempt(() => this.#options.telemetry.record(OPERATION_DURATION, this.#secondsSince(started), attributes))
  }

  /** The turn may have ended when its last request does, so its place is looked up first. */
  #start(session: string, toolCallId?: string): Started {
    const { clock, spans } = this.#options
    return { at: clock.now(), mark: clock.monotonicNow(), parent: spans.placeOf(session, toolCallId) }
  }

  #secondsSince({ mark }: Started): number {
    return (this.#options.clock.monotonicNow() - mark) / 1000
  }

  /** What is stored is stored and what was answered is answered, whatever goes wrong in telling of it. */
  #attempt(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#options.report(error)
    }
  }
}

interface Calling {
  readonly name: string
  readonly args: unknown
  readonly options: ToolCallOptions
  readonly session: string
}

interface EndPart {
  readonly usage: ModelUsage
  readonly reason: string
}

function classOf(error: unknown): string {
  return isParleyError(error) ? error.code : '_OTHER'
}

/** The same object with other methods. The rest, which may use private fields, runs on the object itself. */
function withMethods<Target extends object>(target: Target, methods: object): Target {
  return new Proxy(target, {
    get(_, key) {
      const own: unknown = Reflect.get(Object.hasOwn(methods, key) ? methods : target, key)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
}
