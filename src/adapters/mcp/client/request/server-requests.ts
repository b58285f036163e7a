/** What a server may ask of us: where the work is, and what the person wants for whom it works. */
import { pathToFileURL } from 'node:url'
import { basename } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import type { Elicitation, ElicitationAnswer, ElicitedValue } from '../../../../ports/elicitation.ts'
import type { CallOptions, ConnectRequest, McpHostContext, Given, Paused } from '../../host/mcp-types.ts'
import { isObject, textIn, type JsonObject } from '../../../checking/json.ts'
import type { ToolResult } from '../../../../ports/tools.ts'

/** A request that is open, and whoever is behind it. */
export interface OpenCall {
  readonly options: CallOptions
  /** Its time does not run until the returned function is called. */
  readonly hold: () => () => void
}

interface Asking {
  readonly request: ConnectRequest
  readonly openCalls: ReadonlySet<OpenCall>
}

/** What we say that we can answer. */
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
    const question = open < MOST_QUESTIONS ? readQuestion(params, request.label) : undefined
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

/** So many questions of one server may wait for people at once; each is shown to all of them and kept until it is answered. */
const MOST_QUESTIONS = 8

function filledIn(content: Readonly<Record<string, ElicitedValue>> = {}) {
  const copied = Object.entries(content).map(([key, value]) => [key, isList(value) ? [...value] : value])
  return Object.fromEntries(copied) as Record<string, string | number | boolean | string[]>
}

function isList(value: ElicitedValue): value is readonly string[] {
  return Array.isArray(value)
}

/**
 * A server does not say which of its calls it asks for; the latest that has somebody to ask is taken. Where they are calls
 * of several sessions nobody is asked: what one person says must not reach the work of another.
 */
async function ask(question: Elicitation, openCalls: ReadonlySet<OpenCall>): Promise<ElicitationAnswer> {
  if (new Set([...openCalls].map(({ options }) => options.caller?.sessionId)).size > 1) return CANCEL
  const one = [...openCalls].findLast(({ options }) => options.onElicit !== undefined)
  if (one?.options.onElicit === undefined) return CANCEL
  const goOn = one.hold()
  try {
    return await one.options.onElicit(question)
  } catch {
    // Silence and errors are never a yes.
    return CANCEL
  } finally {
    goOn()
  }
}

function readQuestion(params: JsonObject, server: string): Elicitation | undefined {
  const message = textIn(params, 'message') ?? ''
  if (params.mode === 'url') return urlQuestion(params, server)
  if (params.mode !== undefined && params.mode !== 'form') return undefined
  const schema = params.requestedSchema
  return isObject(schema) ? { mode: 'form', server, message, schema } : undefined
}

/** Anything else than a page of the web could do things on the machine of whoever opens it. */
function urlQuestion(params: JsonObject, server: string): Elicitation | undefined {
  const url = textIn(params, 'url')
  if (url === undefined || !URL.canParse(url) || !['https:', 'http:'].includes(new URL(url).protocol)) return undefined
  return { mode: 'url', server, message: textIn(params, 'message') ?? '', url }
}

/** Whether there were pages to visit and all were; `data` is what came with the error that demands it. */
export async function askForUrls(data: unknown, { onElicit }: CallOptions, server: string): Promise<boolean> {
  const listed = isObject(data) && Array.isArray(data.elicitations) ? (data.elicitations as readonly unknown[]) : []
  const questions = listed.map((entry) => (isObject(entry) ? urlQuestion(entry, server) : undefined))
  if (onElicit === undefined || questions.length === 0) return false
  for (const question of questions) {
    if (question === undefined) return false
    // Silence and errors are never a yes.
    const answer = await onElicit(question).catch(() => undefined)
    if (answer?.action !== 'accept') return false
  }
  return true
}

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
