/** What a server of the newest protocol wants before it goes on with a call, and how it is given that: SEP-2322. */
import type { Elicitation } from '../../../../ports/elicitation.ts'
import type { ToolResult } from '../../../../ports/tools.ts'
import type { Given, Paused } from '../../host/mcp-types.ts'
import { filledIn, readQuestion, rootsAnswer } from './pending-requests.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'

interface Wanting {
  readonly inputRequests?: unknown
  readonly requestState?: string
}

/** What is kept of the server's own words: the kinds of its requests by key, and what it wants back as it was. */
interface Kept {
  readonly asked: Readonly<Record<string, Kind>>
  readonly requestState?: string
}

/** `unclear`: a question that nobody can be asked. */
type Kind = 'question' | 'roots' | 'unclear'

export function wantsInput(answer: object): answer is Wanting {
  return 'resultType' in answer && answer.resultType === 'input_required'
}

/** A result where it wants what we have not got: nobody is asked for the rest then. */
export function pauseFor({ inputRequests, requestState }: Wanting, server: string): Paused | ToolResult {
  const asked: Record<string, Kind> = {}
  const questions: Record<string, Elicitation> = {}
  for (const [key, request] of Object.entries(isObject(inputRequests) ? inputRequests : {})) {
    const method = isObject(request) ? request.method : undefined
    if (method !== 'elicitation/create' && method !== 'roots/list') return notOurs(server, method)
    const question = method === 'roots/list' ? undefined : readQuestion(paramsOf(request), server)
    asked[key] = method === 'roots/list' ? 'roots' : question === undefined ? 'unclear' : 'question'
    if (question !== undefined) questions[key] = question
  }
  const state: Kept = { asked, ...(requestState !== undefined && { requestState }) }
  return { pause: { questions, state } }
}

/** What the same request says besides when it goes out once more. */
export function wordsFor(given: Given, roots: readonly string[]): JsonObject {
  const { asked, requestState } = given.pause.state as Kept
  const answers = Object.entries(asked).map(([key, kind]) => [
    key,
    kind === 'roots' ? rootsAnswer(roots) : answerTo(key, given),
  ])
  return {
    ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) as JsonObject }),
    ...(requestState !== undefined && { requestState }),
  }
}

function answerTo(key: string, { pause, input }: Given) {
  const answer = input[key] ?? { action: 'cancel' }
  if (answer.action !== 'accept') return { action: answer.action }
  const question = pause.questions[key]
  if (question?.mode !== 'form') return { action: 'accept' }
  return { action: 'accept', content: { ...presets(question.schema), ...filledIn(answer.content) } }
}

/** What a form says of itself where a person said nothing. */
function presets({ properties }: JsonObject): JsonObject {
  const listed = isObject(properties) ? Object.entries(properties) : []
  const preset = listed.flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  )
  return Object.fromEntries(preset)
}

function paramsOf(request: unknown): JsonObject {
  return isObject(request) && isObject(request.params) ? request.params : {}
}

function notOurs(server: string, method: unknown): ToolResult {
  const what = typeof method === 'string' ? method.slice(0, 100) : 'something without a name'
  const text = `${server} wanted ${what} before it went on, which is not offered here. The call was given up; what it did before that stays done.`
  return { content: [{ type: 'text', text }], isError: true }
}
