/** Runs a call whose server may require input, several times: the parts of the call, and the input between them. */
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ElicitationAnswer } from '../../../ports/values/elicitation.ts'
import type { ToolInputResponse, ToolInputRequest, ToolResult } from '../../../ports/tools.ts'
import type { CallOptions, GivenInput, Paused } from './mcp-types.ts'

/** After so many rounds of input the call is given up. */
const MAX_ROUNDS = 10
/** Size of a request for input as JSON: it is stored until it is answered. */
const MAX_REQUEST_CHARS = 1024 * 1024
/** Pause before a server that needs no input, only another request, is asked again. */
const POLL_PAUSE_MS = 250

type Part = (options: CallOptions) => Promise<ToolResult | Paused>

/** Throws what `part` and `onInputRequired` throw. All parts share the time limit of the call; the user's time does not count. */
export async function withInputRounds(options: CallOptions, clock: Clock, part: Part): Promise<ToolResult> {
  const { resumeFrom: goesOn } = options
  let spentMs = 0
  let wasDeclined = false
  const next = async (pause: ToolInputRequest): Promise<GivenInput> => {
    const input = await inputFor(pause, options)
    wasDeclined ||= Object.values(input).some(({ action }) => action !== 'accept')
    return { pause, input, spentMs }
  }
  let given = goesOn === undefined ? undefined : await next(goesOn)
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const since = clock.monotonicNow()
    const end = await part({ ...options, ...(given && { given }) })
    if (!('pause' in end)) return wasDeclined ? afterDecline(end) : end
    spentMs += clock.monotonicNow() - since
    const size = JSON.stringify(end.pause).length
    if (size > MAX_REQUEST_CHARS)
      return givenUp(`what it wants is ${size} characters long, and at most ${MAX_REQUEST_CHARS} are kept`)
    if (Object.keys(end.pause.questions).length === 0)
      await clock.sleep(POLL_PAUSE_MS, options.signal).catch(() => undefined)
    given = await next(end.pause)
  }
  return givenUp(`it still did after ${MAX_ROUNDS} rounds`)
}

async function inputFor(pause: ToolInputRequest, options: CallOptions): Promise<ToolInputResponse> {
  const { onInputRequired: onPause = (asked: ToolInputRequest) => oneByOne(asked, options), signal, name } = options
  const input = await onPause(pause)
  return signal.aborted ? fail('TOOL_CANCELLED', { tool: name }) : input
}

/** Tells the agent why the call failed: another attempt would ask the user again. */
export function afterDecline(result: ToolResult): ToolResult {
  return result.isError ? { ...result, content: [...result.content, DECLINED] } : result
}

const DECLINED = { type: 'text', text: '[It needs input, which was declined.]' } as const

/** For callers that do not store requests for input: each question is asked at once. */
async function oneByOne({ questions }: ToolInputRequest, { onElicit }: CallOptions): Promise<ToolInputResponse> {
  const input: Record<string, ElicitationAnswer> = {}
  for (const [key, question] of Object.entries(questions))
    // Silence and errors never count as an approval.
    input[key] = (await onElicit?.(question).catch(() => undefined)) ?? { action: 'cancel' }
  return input
}

function givenUp(why: string): ToolResult {
  const text = `The server wanted input before it went on, and the call was given up: ${why}. What it did before that stays done.`
  return { content: [{ type: 'text', text }], isError: true }
}
