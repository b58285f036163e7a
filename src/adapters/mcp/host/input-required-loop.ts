/** A call whose server may want input before it goes on, again and again: its parts, with what is given between them. */
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ElicitationAnswer } from '../../../ports/elicitation.ts'
import type { ToolInputResponse, ToolInputRequest, ToolResult } from '../../../ports/tools.ts'
import type { CallOptions, Given, Paused } from './mcp-types.ts'

/** A server that is not content by then never will be. */
const ROUNDS = 10
/** A pause is kept until it is over. Characters of JSON; what is longer belongs to the server's own memory. */
const LONGEST = 1024 * 1024
/** Before a server that wants nothing but to be asked again is. Milliseconds. */
const BREATH_MS = 250

type Part = (options: CallOptions) => Promise<ToolResult | Paused>

/** Throws what `part` and `onPause` throw. However often it goes on, the time for the whole call is one; people's does not count. */
export async function withInputRounds(options: CallOptions, clock: Clock, part: Part): Promise<ToolResult> {
  const { resumeFrom: goesOn } = options
  let spentMs = 0
  let wasDeclined = false
  const next = async (pause: ToolInputRequest): Promise<Given> => {
    const input = await inputFor(pause, options)
    wasDeclined ||= Object.values(input).some(({ action }) => action !== 'accept')
    return { pause, input, spentMs }
  }
  let given = goesOn === undefined ? undefined : await next(goesOn)
  for (let round = 1; round <= ROUNDS; round += 1) {
    const since = clock.monotonicNow()
    const end = await part({ ...options, ...(given && { given }) })
    if (!('pause' in end)) return wasDeclined ? afterDecline(end) : end
    spentMs += clock.monotonicNow() - since
    const size = JSON.stringify(end.pause).length
    if (size > LONGEST) return givenUp(`what it wants is ${size} characters long, and at most ${LONGEST} are kept`)
    if (Object.keys(end.pause.questions).length === 0)
      await clock.sleep(BREATH_MS, options.signal).catch(() => undefined)
    given = await next(end.pause)
  }
  return givenUp(`it still did after ${ROUNDS} rounds`)
}

async function inputFor(pause: ToolInputRequest, options: CallOptions): Promise<ToolInputResponse> {
  const { onInputRequired: onPause = (asked: ToolInputRequest) => oneByOne(asked, options), signal, name } = options
  const input = await onPause(pause)
  return signal.aborted ? fail('TOOL_CANCELLED', { tool: name }) : input
}

/** Whoever reads why a call failed should know that trying again asks again. */
export function afterDecline(result: ToolResult): ToolResult {
  return result.isError ? { ...result, content: [...result.content, DECLINED] } : result
}

const DECLINED = { type: 'text', text: '[It needs input, which was declined.]' } as const

/** For whoever keeps nothing. */
async function oneByOne({ questions }: ToolInputRequest, { onElicit }: CallOptions): Promise<ToolInputResponse> {
  const input: Record<string, ElicitationAnswer> = {}
  for (const [key, question] of Object.entries(questions))
    // Silence and errors are never a yes.
    input[key] = (await onElicit?.(question).catch(() => undefined)) ?? { action: 'cancel' }
  return input
}

function givenUp(why: string): ToolResult {
  const text = `The server wanted input before it went on, and the call was given up: ${why}. What it did before that stays done.`
  return { content: [{ type: 'text', text }], isError: true }
}
