/** Requests of a server to us: the root set, and questions to the user. As requests of their own, or as required input of a call (SEP-2322). */
import { pathToFileURL } from 'node:url'
import { basename } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import type { Elicitation, ElicitationAnswer, ElicitedValue } from '../../../../ports/values/elicitation.ts'
import type { CallOptions, ConnectRequest, McpHostContext, GivenInput, Paused } from '../../host/mcp-types.ts'
import { isObject, nonEmptyText, type JsonObject } from '../../../checking/json.ts'
import type { ToolResult } from '../../../../ports/tools.ts'

/** A call that is open, whose user the server may ask. */
export interface AskableCall {
  readonly options: CallOptions
  /** Stops the time of the call until the returned function is called. */
  readonly pause: () => () => void
}

interface Asking {
  readonly request: ConnectRequest
  readonly openCalls: ReadonlySet<AskableCall>
}

/** The capabilities that we announce. */
export function capabilities({ elicitation }: McpHostContext) {
  return {
    roots: { listChanged: true },
    ...(elicitation && { elicitation: { form: { applyDefaults: true }, url: {} } }),
  }
}

/** Call it before the client connects. */
export function answerServer(client: Client, context: McpHostContext, { request, openCalls }: Asking): void {
  client.setRequestHandler('roots/list', () => rootsAnswer(request.roots()))
  if (!context.elicitation) return
  let open = 0
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const question = open < MAX_QUESTIONS ? readQuestion(params, request.label) : undefined
    open += 1
    const answer = await (question === undefined ? CANCEL : ask(question, openCalls))
    open -= 1
    return answer.action === 'accept'
      ? { action: 'accept', content: filledIn(answer.content) }
      : { action: answer.action }
  })
}

function rootsAnswer(paths: readonly string[]) {
  return { roots: paths.map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) || path })) }
}

const CANCEL = { action: 'cancel' } as const

/** Questions of one server that may wait at once; each is shown to every client until it is answered. */
const MAX_QUESTIONS = 8

function filledIn(content: Readonly<Record<string, ElicitedValue>> = {}) {
  const copied = Object.entries(content).map(([key, value]) => [key, isList(value) ? [...value] : value])
  return Object.fromEntries(copied) as Record<string, string | number | boolean | string[]>
}

function isList(value: ElicitedValue): value is readonly string[] {
  return Array.isArray(value)
}

/**
 * A server does not say which call it asks for: the latest call that has a user is taken. If the calls are of several sessions, the
 * question is declined, because the answer of one user must not reach the work of another.
 */
async function ask(question: Elicitation, openCalls: ReadonlySet<AskableCall>): Promise<ElicitationAnswer> {
  if (new Set([...openCalls].map(({ options }) => options.caller?.sessionId)).size > 1) return CANCEL
  const one = [...openCalls].findLast(({ options }) => options.onElicit !== undefined)
  if (one?.options.onElicit === undefined) return CANCEL
  const resume = one.pause()
  try {
    return await one.options.onElicit(question)
  } catch {
    // Silence and errors never count as an approval.
    return CANCEL
  } finally {
    resume()
  }
}

function readQuestion(params: JsonObject, server: string): Elicitation | undefined {
  const message = nonEmptyText(params, 'message') ?? ''
  if (params.mode === 'url') return urlQuestion(params, server)
  if (params.mode !== undefined && params.mode !== 'form') return undefined
  const schema = params.requestedSchema
  return isObject(schema) ? { mode: 'form', server, message, schema } : undefined
}

/** Only web pages: another kind of URL could run something on the user's machine. */
function urlQuestion(params: JsonObject, server: string): Elicitation | undefined {
  const url = nonEmptyText(params, 'url')
  if (url === undefined || !URL.canParse(url) || !['https:', 'http:'].includes(new URL(url).protocol)) return undefined
  return { mode: 'url', server, message: nonEmptyText(params, 'message') ?? '', url }
}

/** Whether the error's `data` names pages to visit, and the user visited all of them. */
export async function askForUrls(data: unknown, { onElicit }: CallOptions, server: string): Promise<boolean> {
  const listed = isObject(data) && Array.isArray(data.elicitations) ? (data.elicitations as readonly unknown[]) : []
  const questions = listed.map((entry) => (isObject(entry) ? urlQuestion(entry, server) : undefined))
  if (onElicit === undefined || questions.length === 0) return false
  for (const question of questions) {
    if (question === undefined) return false
    // Silence and errors never count as an approval.
    const answer = await onElicit(question).catch(() => undefined)
    if (answer?.action !== 'accept') return false
  }
  return true
}

interface Wanting {
  readonly inputRequests?: unknown
  readonly requestState?: string
}

/** The stored part of a pause: the kinds of the server's requests by key, and the state that it wants back unchanged. */
interface StoredPause {
  readonly asked: Readonly<Record<string, Kind>>
  readonly requestState?: string
}

/** `unclear`: a question that cannot be shown to a user. */
type Kind = 'question' | 'roots' | 'unclear'

export function wantsInput(answer: object): answer is Wanting {
  return 'resultType' in answer && answer.resultType === 'input_required'
}

/** A failed result if the server requires anything else than questions and roots; the user is asked nothing then. */
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
  const state: StoredPause = { asked, ...(requestState !== undefined && { requestState }) }
  return { pause: { questions, state } }
}

/** Parameters that are added when the same request is sent again with the input. */
export function inputParams(given: GivenInput, roots: readonly string[]): JsonObject {
  const { asked, requestState } = given.pause.state as StoredPause
  const answers = Object.entries(asked).map(([key, kind]) => [
    key,
    kind === 'roots' ? rootsAnswer(roots) : answerTo(key, given),
  ])
  return {
    ...(answers.length > 0 && { inputResponses: Object.fromEntries(answers) as JsonObject }),
    ...(requestState !== undefined && { requestState }),
  }
}

function answerTo(key: string, { pause, input }: GivenInput) {
  const answer = input[key] ?? { action: 'cancel' }
  if (answer.action !== 'accept') return { action: answer.action }
  const question = pause.questions[key]
  if (question?.mode !== 'form') return { action: 'accept' }
  return { action: 'accept', content: { ...presets(question.schema), ...filledIn(answer.content) } }
}

/** The default values of a form. */
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
