/** The calls of one step: run in order, or side by side when none of them changes anything, and each result kept as it comes. */
import type { ResumedCall, Resumption } from '../../../../ports/agent.ts'
import type { ModelToolCall, ModelToolResult } from '../../../../ports/model.ts'
import type { ToolResult, ToolList } from '../../../../ports/tools.ts'
import { mayRun } from '../../may-run.ts'
import { changesFor } from '../context/mentions.ts'
import { type AnnouncedFiles, directoryInstructions } from '../context/instructions.ts'
import { type TurnWork, append } from './work.ts'
import type { Content } from '../../../../ports/content.ts'

/** What one step may call; a model that wants more is told so. */
const CALLS = 64
const SIDE_BY_SIDE = 8

const TOO_MANY = `Not run: only ${CALLS} tools can be called in one step. Call it again if it is still needed.`

const INTERRUPTED = 'Interrupted; it may have run.'

/** Every open call has its result then. */
export async function runCalls(work: TurnWork, failures: RepeatedFailureDetector): Promise<void> {
  const open = work.context.openCalls
  await keepAll(work, open.slice(CALLS), TOO_MANY)
  const calls = open.slice(0, CALLS)
  const width = calls.every((call) => isReadOnly(work, call)) ? SIDE_BY_SIDE : 1
  await run(calls, width, (call) => runOne(work, call, failures))
}

/** Goes on with a step that was waiting for answers when the server stopped: what had begun is not begun again. */
export async function goOnWithCalls(work: TurnWork, { calls, ended }: Resumption): Promise<void> {
  const waited = work.context.openCalls.flatMap((call) => {
    const resumed = calls.find(({ toolCallId }) => toolCallId === call.id)
    return resumed === undefined ? [] : [{ call, resumed }]
  })
  const over = work.context.openCalls.filter(({ id }) => ended.includes(id))
  await keepAll(work, over, INTERRUPTED)
  // One that waits for input holds up none of those that waited with it.
  await Promise.all(waited.map(({ call, resumed }) => runResumed(work, call, resumed)))
}

/** What a crash left open is told to the model once, and stays told. */
export async function closeOpenCalls(work: TurnWork): Promise<void> {
  await keepAll(work, work.context.openCalls, INTERRUPTED)
}

async function runResumed(work: TurnWork, call: ModelToolCall, resumed: ResumedCall): Promise<void> {
  if (!mayRun(resumed)) return refuse(work, call, 'Not allowed. The tool was not run.')
  const { id: toolCallId, name, args } = call
  const request = { name, args, toolCallId, permission: 'granted', resume: resumeOf(call) } as const
  await keepResult(work, call, await work.turn.call(request))
}

/** What the context does not know of a call need not be kept with it. */
function resumeOf({ id }: ModelToolCall) {
  return { agent: 'model', call: id }
}

/** So many at once. */
async function run(calls: readonly ModelToolCall[], width: number, play: (call: ModelToolCall) => Promise<void>) {
  const waiting = [...calls]
  const worker = async (): Promise<void> => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) await play(call)
  }
  await Promise.all(Array.from({ length: Math.min(width, calls.length) }, worker))
}

async function runOne(work: TurnWork, call: ModelToolCall, failures: RepeatedFailureDetector): Promise<void> {
  const { id: toolCallId, name, args, malformed } = call
  if (work.turn.signal.aborted) return keepResult(work, call, failed('Cancelled. The tool was not run.'))
  if (malformed !== undefined) {
    await refuse(
      work,
      call,
      failures.remark(
        call,
        `The arguments are not valid JSON, or too long or too deep to be read: ${malformed.slice(0, 500)}`,
      ),
    )
    return
  }
  const request = { name, args, toolCallId, permission: 'policy', resume: resumeOf(call) } as const
  const result = await work.turn.call(request)
  // What was not allowed has touched nothing.
  const told = result.isError ? undefined : await directoryInstructions(work, call)
  await keepResult(work, call, { ...failures.judged(call, result), ...(told && { told }) })
}

async function keepAll(work: TurnWork, calls: readonly ModelToolCall[], why: string): Promise<void> {
  await Promise.all(calls.map((call) => keepResult(work, call, failed(why))))
}

/** People see the call, and that it failed. */
async function refuse(work: TurnWork, call: ModelToolCall, why: string): Promise<void> {
  const content = [{ type: 'content', content: { type: 'text', text: why } }] as const
  await work.turn.report(call.id, { title: call.name.slice(0, 200), status: 'failed', content })
  await keepResult(work, call, failed(why))
}

async function keepResult(
  work: TurnWork,
  call: ModelToolCall,
  { told, ...result }: ToolResult & { readonly told?: AnnouncedFiles },
): Promise<void> {
  const { id, name } = call
  const { content, isError } = forModel(result, { id, list: work.turn.tools.list() })
  const changes = changesFor(work)
  const noted = changes === undefined ? [] : [{ type: 'text', text: `[${changes}]` } as const]
  const kept: ModelToolResult = { id, name, content: [...content, ...(told?.content ?? []), ...noted], isError }
  await append(work, { agent: 'model', kind: 'result', result: kept, ...(told && { told: told.told }) })
}

function isReadOnly({ turn }: TurnWork, { name, malformed }: ModelToolCall): boolean {
  if (malformed !== undefined) return true
  return turn.tools.list().tools.find((tool) => tool.name === name)?.readOnly ?? true
}

function failed(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

const TOO_OFTEN = 3

export class RepeatedFailureDetector {
  readonly #times = new Map<string, number>()

  judged(call: ModelToolCall, result: ToolResult): ToolResult {
    if (!result.isError) {
      this.#times.delete(keyOf(call))
      return result
    }
    const warning = this.#count(call)
    return warning === undefined ? result : { ...result, content: [...result.content, { type: 'text', text: warning }] }
  }

  /** The sentence that says why a call failed, with a warning if it has failed so before. */
  remark(call: ModelToolCall, why: string): string {
    return [why, this.#count(call) ?? []].flat().join('\n')
  }

  #count(call: ModelToolCall): string | undefined {
    const times = (this.#times.get(keyOf(call)) ?? 0) + 1
    this.#times.set(keyOf(call), times)
    return times < TOO_OFTEN
      ? undefined
      : `This very call has failed ${times} times in this turn. Do not repeat it: try another way, or say what is in the way.`
  }
}

function keyOf({ name, args, malformed }: ModelToolCall): string {
  return JSON.stringify([name, args, malformed])
}

/** Characters of text in one result. */
const LONGEST = 30_000

interface Given {
  /** Of the call. */
  readonly id: string
  readonly list: ToolList
}

function forModel(result: ToolResult, given: Given): Pick<ToolResult, 'content' | 'isError'> {
  const content = result.modelContent ?? spoken(result)
  return { content: shortened(content, advice(given)), isError: result.isError }
}

/** A server that answers with structure alone has said something too. */
function spoken({ content, structured }: ToolResult): readonly Content[] {
  if (content.length > 0) return content
  return [{ type: 'text', text: structured === undefined ? '(no output)' : JSON.stringify(structured) }]
}

function shortened(content: readonly Content[], advice: string): readonly Content[] {
  let room = LONGEST
  return content.flatMap((block): readonly Content[] => {
    const text = textOf(block)
    if (text === undefined) return [block]
    if (text.length <= room) {
      room -= text.length
      return [block]
    }
    const cut: Content = {
      type: 'text',
      text: `${whole(text, room)}\n[… ${text.length - room} more characters. ${advice}]`,
    }
    const wasFull = room === 0
    room = 0
    return wasFull ? [] : [cut]
  })
}

function textOf(block: Content): string | undefined {
  if (block.type === 'text') return block.text
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : undefined
}

/** Never half of a character. */
function whole(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/u, '')
}

function advice({ id, list }: Given): string {
  const reader = list.tools.find(
    ({ name, builtin, serverToolName }) => builtin && (name === 'read_result' || serverToolName === 'read_result'),
  )
  return reader === undefined ? 'Ask for less.' : `${reader.name} with the id ${id} gives the rest.`
}
