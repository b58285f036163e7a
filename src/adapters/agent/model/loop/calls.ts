/** The calls of one step: run in order, or side by side when none of them changes anything, and each result kept as it comes. */
import type { ResumedCall, Resumption } from '../../../../ports/agent.ts'
import type { ModelToolCall, ModelToolResult } from '../../../../ports/model.ts'
import type { ToolResult } from '../../../../ports/tools.ts'
import { mayRun } from '../../may-run.ts'
import type { RepeatedFailureDetector } from './repeated-failure-detector.ts'
import { changesFor } from '../context/mentions.ts'
import { forModel } from '../context/model-result.ts'
import { type AnnouncedFiles, directoryInstructions } from '../context/directory-instructions.ts'
import { type TurnWork, append } from './work.ts'

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
