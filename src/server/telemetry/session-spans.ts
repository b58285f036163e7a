/**
 * The spans of turns and of their tool calls, made from the entries of the journal as they are stored. Nothing that a user,
 * a model or a tool wrote becomes part of a span unless `content` is true.
 */
import type { Attributes, Span, SpanContext, Telemetry } from '../../ports/values/telemetry.ts'
import type { ToolCallPatch } from '../../ports/values/content.ts'
import type { Entry } from '../../session/domain/entries.ts'
import { OPERATION_DURATION } from './metrics.ts'

export interface SpanOptions {
  readonly telemetry: Pick<Telemetry, 'span' | 'record'>
  /** A random UUID. */
  readonly newId: () => string
  readonly content: boolean
}

interface OpenSpan extends SpanContext {
  readonly startedAt: number
}

interface OpenTurn extends OpenSpan {
  readonly turnId: string
  readonly calls: Map<string, OpenCall>
  readonly tokens: Tokens
  isCancelled: boolean
  asked: string
  answered: string
}

interface OpenCall extends OpenSpan {
  name: string
  readonly kind: string | undefined
  given: unknown
  result: unknown
}

export interface Tokens {
  input: number
  output: number
}

/** What is kept of one text when content is asked for. Characters. */
const MAX_CONTENT = 16 * 1024

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>

export class SessionSpans {
  readonly #options: SpanOptions
  /** By session: at most one turn is open in each. */
  readonly #turns = new Map<string, OpenTurn>()

  constructor(options: SpanOptions) {
    this.#options = options
  }

  /** `agent` is the full name of the agent that answers in the session now. */
  stored(session: string, agent: string, entries: readonly Entry[]): void {
    for (const entry of entries) this.#stored(session, agent, entry)
  }

  /** The work that a request of the session is part of: its tool call, else its open turn. */
  placeOf(session: string, toolCallId?: string): SpanContext | undefined {
    const turn = this.#turns.get(session)
    return (toolCallId === undefined ? undefined : turn?.calls.get(toolCallId)) ?? turn
  }

  /** Counts the tokens of a request to a model to the open turn of the session. */
  used(session: string, { input, output }: Tokens): void {
    const turn = this.#turns.get(session)
    if (turn === undefined) return
    turn.tokens.input += input
    turn.tokens.output += output
  }

  /** The tool that a call runs: entries hold only what users are shown of it. */
  runs(session: string, toolCallId: string, name: string): void {
    const call = this.#turns.get(session)?.calls.get(toolCallId)
    if (call !== undefined) call.name = name
  }

  /** For a session that is deleted. */
  forget(session: string): void {
    this.#turns.delete(session)
  }

  #stored(session: string, agent: string, entry: Entry): void {
    if (entry.kind === 'turn_started' || entry.kind === 'turn_resumed') this.#begin(session, entry)
    const turn = this.#turns.get(session)
    // What ends here may have begun in another process, whose span is lost.
    if (turn === undefined) return
    switch (entry.kind) {
      case 'message_chunk':
        return this.#said(turn, entry)
      case 'tool_call':
        return this.#called(session, turn, { ...entry, patch: entry.call })
      case 'tool_call_patched':
        return this.#called(session, turn, entry)
      case 'turn_cancel_requested':
        turn.isCancelled = true
        return
      case 'turn_suspended':
        return this.#end({ session, agent, turn, at: entry.at, stopReason: 'suspended' })
      case 'turn_ended':
        return this.#end({ session, agent, turn, at: entry.at, stopReason: entry.stopReason, error: entry.error?.code })
      default:
    }
  }

  #begin(session: string, { turnId, at }: EntryOf<'turn_started' | 'turn_resumed'>): void {
    if (this.#turns.get(session)?.turnId === turnId) return
    const { newId } = this.#options
    const context = { traceId: hex(newId()), spanId: hex(newId()).slice(16) }
    const empty = { calls: new Map(), tokens: { input: 0, output: 0 }, isCancelled: false, asked: '', answered: '' }
    this.#turns.set(session, { ...context, turnId, startedAt: at, ...empty })
  }

  #said(turn: OpenTurn, { role, content }: EntryOf<'message_chunk'>): void {
    if (!this.#options.content || content.type !== 'text') return
    if (role === 'user') turn.asked = (turn.asked + content.text).slice(0, MAX_CONTENT)
    if (role === 'agent') turn.answered = (turn.answered + content.text).slice(0, MAX_CONTENT)
  }

  #called(session: string, turn: OpenTurn, { toolCallId, patch, at }: CallChange): void {
    const call = turn.calls.get(toolCallId) ?? this.#openCall(turn, patch, at)
    turn.calls.set(toolCallId, call)
    if (this.#options.content) {
      call.given = patch.rawInput ?? call.given
      call.result = patch.rawOutput ?? patch.content ?? call.result
    }
    const { status } = patch
    if (status === 'completed' || status === 'failed' || status === 'cancelled')
      this.#endCall({ session, turn, toolCallId, call, at, status })
  }

  #openCall({ traceId }: OpenTurn, { name, kind }: ToolCallPatch, startedAt: number): OpenCall {
    const spanId = hex(this.#options.newId()).slice(16)
    // The title may quote arguments, so a call without a name goes by its kind.
    return { traceId, spanId, startedAt, name: name ?? kind ?? 'other', kind, given: undefined, result: undefined }
  }

  #endCall({ session, turn, toolCallId, call, at, status }: EndOfCall): void {
    turn.calls.delete(toolCallId)
    this.#add(call, at, {
      parentId: turn.spanId,
      name: `execute_tool ${call.name}`,
      ...(status === 'failed' && { error: 'tool_error' }),
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.id': toolCallId,
        'gen_ai.conversation.id': session,
        'parley.tool.status': status,
        ...(call.kind !== undefined && { 'parley.tool.kind': call.kind }),
        ...(call.given !== undefined && { 'gen_ai.tool.call.arguments': asText(call.given) }),
        ...(call.result !== undefined && { 'gen_ai.tool.call.result': asText(call.result) }),
      },
    })
  }

  #end({ session, agent, turn, at, stopReason, error }: EndOfTurn): void {
    this.#turns.delete(session)
    for (const [toolCallId, call] of turn.calls)
      this.#endCall({ session, turn, toolCallId, call, at, status: 'cancelled' })
    const name = shownName(agent)
    this.#add(turn, at, {
      name: `invoke_agent ${name}`,
      ...(error !== undefined && { error }),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': name,
        'gen_ai.conversation.id': session,
        'parley.turn.id': turn.turnId,
        'parley.turn.stop_reason': stopReason,
        ...(turn.isCancelled && { 'parley.turn.cancel_requested': true }),
        ...(turn.tokens.input > 0 && { 'gen_ai.usage.input_tokens': turn.tokens.input }),
        ...(turn.tokens.output > 0 && { 'gen_ai.usage.output_tokens': turn.tokens.output }),
        ...(turn.asked !== '' && { 'gen_ai.input.messages': messages('user', turn.asked) }),
        ...(turn.answered !== '' && { 'gen_ai.output.messages': messages('assistant', turn.answered) }),
      },
    })
  }

  #add(
    { traceId, spanId, startedAt }: OpenSpan,
    at: number,
    said: Pick<Span, 'name' | 'attributes' | 'error' | 'parentId'>,
  ) {
    const { telemetry } = this.#options
    const endedAt = Math.max(at, startedAt)
    telemetry.span({ traceId, spanId, kind: 'internal', startedAt, endedAt, ...said })
    const labels = ['gen_ai.operation.name', 'gen_ai.agent.name', 'gen_ai.tool.name']
    const attributes = Object.fromEntries(labels.flatMap((key) => entryOf(said.attributes, key)))
    const failed = said.error === undefined ? {} : { 'error.type': said.error }
    telemetry.record(OPERATION_DURATION, (endedAt - startedAt) / 1000, { ...attributes, ...failed })
  }
}

interface CallChange {
  readonly toolCallId: string
  readonly patch: ToolCallPatch
  readonly at: number
}

interface EndOfCall {
  readonly session: string
  readonly turn: OpenTurn
  readonly toolCallId: string
  readonly call: OpenCall
  readonly at: number
  readonly status: 'completed' | 'failed' | 'cancelled'
}

interface EndOfTurn {
  readonly session: string
  readonly agent: string
  readonly turn: OpenTurn
  readonly at: number
  readonly stopReason: string
  readonly error?: string | undefined
}

/** The name of a script holds its path. */
function shownName(agent: string): string {
  return agent.startsWith('script:') ? 'script' : agent
}

function entryOf(attributes: Attributes, key: string) {
  const value = attributes[key]
  return value === undefined ? [] : [[key, value] as const]
}

function messages(role: 'user' | 'assistant', content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
}

function asText(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_CONTENT)
}

/** The digits of a UUID; those of its second half are all random but for two bits. */
export function hex(id: string): string {
  return id.replaceAll('-', '')
}
