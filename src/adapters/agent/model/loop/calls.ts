/** Runs the tool calls of one step: in order, or in parallel if all of them only read. Each result is stored as it arrives. */
import type { ResumedCall, Resumption } from '../../../../ports/agent.ts'
import type { ModelToolCall, ModelToolResult } from '../../../../ports/model.ts'
import type { ToolResult, ToolList } from '../../../../ports/tools.ts'
import { mayContinue } from '../../may-continue.ts'
import { type AnnouncedFiles, directoryInstructions } from '../context/instructions.ts'
import { type TurnWork, append } from '../context/context.ts'
import type { Content } from '../../../../ports/values/content.ts'
import { characterBoundary } from '../../../../text/shorten.ts'

/** Calls of one step; for each further call the model gets a result that says that it did not run. */
const MAX_CALLS = 64
const MAX_PARALLEL = 8

const TOO_MANY = `Not run: only ${MAX_CALLS} tools can be called in one step. Call it again if it is still needed.`

const INTERRUPTED = 'Interrupted; it may have run.'

/** When it resolves, every open call has a result. */
export async function runCalls(work: TurnWork, failures: RepeatedFailureDetector): Promise<void> {
  const open = work.context.openCalls
  await storeResults(work, open.slice(MAX_CALLS), TOO_MANY)
  const calls = open.slice(0, MAX_CALLS)
  const width = calls.every((call) => isReadOnly(work, call)) ? MAX_PARALLEL : 1
  await run(calls, width, (call) => runOne(work, call, failures))
}

/** Resumes a step that waited for answers when the server stopped. Calls that had begun are not begun again. */
export async function resumeCalls(work: TurnWork, { calls, ended }: Resumption): Promise<void> {
  const waited = work.context.openCalls.flatMap((call) => {
    const resumed = calls.find(({ toolCallId }) => toolCallId === call.id)
    return resumed === undefined ? [] : [{ call, resumed }]
  })
  const over = work.context.openCalls.filter(({ id }) => ended.includes(id))
  await storeResults(work, over, INTERRUPTED)
  // A call that waits for input does not delay the others.
  await Promise.all(waited.map(({ call, resumed }) => runResumed(work, call, resumed)))
}

/** Gives the calls that a crash left open a result, once. */
export async function closeOpenCalls(work: TurnWork): Promise<void> {
  await storeResults(work, work.context.openCalls, INTERRUPTED)
}

async function runResumed(work: TurnWork, call: ModelToolCall, resumed: ResumedCall): Promise<void> {
  if (!mayContinue(resumed)) return refuseCall(work, call, 'Not allowed. The tool was not run.')
  const { id: toolCallId, name, args } = call
  const request = { name, args, toolCallId, permission: 'granted', resume: resumeOf(call) } as const
  await storeResult(work, call, await work.turn.call(request))
}

/** The rest of a call is in the context; only its id must be kept. */
function resumeOf({ id }: ModelToolCall) {
  return { agent: 'model', call: id }
}

/** Runs at most `width` calls at once. */
async function run(calls: readonly ModelToolCall[], width: number, play: (call: ModelToolCall) => Promise<void>) {
  const waiting = [...calls]
  const worker = async (): Promise<void> => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) await play(call)
  }
  await Promise.all(Array.from({ length: Math.min(width, calls.length) }, worker))
}

async function runOne(work: TurnWork, call: ModelToolCall, failures: RepeatedFailureDetector): Promise<void> {
  const { id: toolCallId, name, args, malformed } = call
  if (work.turn.signal.aborted) return storeResult(work, call, failedResult('Cancelled. The tool was not run.'))
  if (malformed !== undefined) {
    await refuseCall(
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
  // A call that was not allowed has touched no file.
  const instructions = result.isError ? undefined : await directoryInstructions(work, call)
  await storeResult(work, call, { ...failures.judged(call, result), ...(instructions && { instructions }) })
}

async function storeResults(work: TurnWork, calls: readonly ModelToolCall[], why: string): Promise<void> {
  await Promise.all(calls.map((call) => storeResult(work, call, failedResult(why))))
}

/** Shows the call as failed to clients and gives the model the reason. */
async function refuseCall(work: TurnWork, call: ModelToolCall, why: string): Promise<void> {
  const content = [{ type: 'content', content: { type: 'text', text: why } }] as const
  await work.turn.report(call.id, { title: call.name.slice(0, 200), status: 'failed', content })
  await storeResult(work, call, failedResult(why))
}

async function storeResult(
  work: TurnWork,
  call: ModelToolCall,
  { instructions, ...result }: ToolResult & { readonly instructions?: AnnouncedFiles },
): Promise<void> {
  const { id, name } = call
  const { content, isError } = forModel(result, { id, list: work.turn.tools.list() })
  const changes = work.context.noteOfChanges(work.turn.tools.list())
  const noted = changes === undefined ? [] : [{ type: 'text', text: `[${changes}]` } as const]
  const kept: ModelToolResult = { id, name, content: [...content, ...(instructions?.content ?? []), ...noted], isError }
  await append(work, {
    agent: 'model',
    kind: 'result',
    result: kept,
    ...(instructions && { told: instructions.paths }),
  })
}

function isReadOnly({ turn }: TurnWork, { name, malformed }: ModelToolCall): boolean {
  if (malformed !== undefined) return true
  return turn.tools.list().tools.find((tool) => tool.name === name)?.readOnly ?? true
}

function failedResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

const WARN_AFTER = 3

export class RepeatedFailureDetector {
  readonly #times = new Map<string, number>()

  judged(call: ModelToolCall, result: ToolResult): ToolResult {
    if (!result.isError) {
      this.#times.delete(keyOf(call))
      return result
    }
    const warning = this.#count(call)
    if (warning === undefined) return result
    const note = { type: 'text', text: warning } as const
    const { content, modelContent } = result
    // A long result has a shortened form for the model; the warning must reach the model in that form too.
    return { ...result, content: [...content, note], ...(modelContent && { modelContent: [...modelContent, note] }) }
  }

  /** Why a call failed, with a warning if it failed in the same way before. */
  remark(call: ModelToolCall, why: string): string {
    return [why, this.#count(call) ?? []].flat().join('\n')
  }

  #count(call: ModelToolCall): string | undefined {
    const times = (this.#times.get(keyOf(call)) ?? 0) + 1
    this.#times.set(keyOf(call), times)
    return times < WARN_AFTER
      ? undefined
      : `This very call has failed ${times} times in this turn. Do not repeat it: try another way, or say what is in the way.`
  }
}

function keyOf({ name, args, malformed }: ModelToolCall): string {
  return JSON.stringify([name, args, malformed])
}

/** Characters of text in one result. */
const MAX_RESULT_CHARS = 30_000

interface ResultContext {
  /** The id of the call. */
  readonly id: string
  readonly list: ToolList
}

function forModel(result: ToolResult, given: ResultContext): Pick<ToolResult, 'content' | 'isError'> {
  const content = result.modelContent ?? resultContent(result)
  return { content: shortened(content, readOnAdvice(given)), isError: result.isError }
}

/** For a result with structured content only, its JSON is the text. */
function resultContent({ content, structured }: ToolResult): readonly Content[] {
  if (content.length > 0) return content
  return [{ type: 'text', text: structured === undefined ? '(no output)' : JSON.stringify(structured) }]
}

function shortened(content: readonly Content[], advice: string): readonly Content[] {
  let room = MAX_RESULT_CHARS
  return content.flatMap((block): readonly Content[] => {
    const text = textOf(block)
    if (text === undefined) return [block]
    if (text.length <= room) {
      room -= text.length
      return [block]
    }
    const cut: Content = {
      type: 'text',
      text: `${text.slice(0, characterBoundary(text, room))}\n[… ${text.length - room} more characters. ${advice}]`,
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

function readOnAdvice({ id, list }: ResultContext): string {
  const reader = list.tools.find(
    ({ name, builtin, serverToolName }) => builtin && (name === 'read_result' || serverToolName === 'read_result'),
  )
  return reader === undefined ? 'Ask for less.' : `${reader.name} with the id ${id} gives the rest.`
}
