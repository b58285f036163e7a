/** What a server may ask of us: where the work is, and what the person wants for whom it works. */
import { pathToFileURL } from 'node:url'
import { basename } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import type { Elicitation, ElicitationAnswer, ElicitedValue } from '../../../../ports/elicitation.ts'
import type { CallOptions, ConnectRequest, McpHostContext } from '../../host/mcp-types.ts'
import { isObject, textIn, type JsonObject } from '../../../checking/json.ts'

/** A request that is open, and whoever is behind it. */
export interface AnswerableRequests {
  readonly options: CallOptions
  /** Its time does not run until the returned function is called. */
  readonly hold: () => () => void
}

interface Asking {
  readonly request: ConnectRequest
  readonly askable: ReadonlySet<AnswerableRequests>
}

/** What we say that we can answer. */
export function capabilities({ elicitation }: McpHostContext) {
  return {
    roots: { listChanged: true },
    ...(elicitation && { elicitation: { form: { applyDefaults: true }, url: {} } }),
  }
}

/** Call it before the client connects. */
export function answerServer(client: Client, around: McpHostContext, { request, askable }: Asking): void {
  client.setRequestHandler('roots/list', () => rootsAnswer(request.roots()))
  if (!around.elicitation) return
  let open = 0
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const question = open < MOST_QUESTIONS ? readQuestion(params, request.label) : undefined
    open += 1
    const answer = await (question === undefined ? CANCEL : ask(question, askable))
    open -= 1
    return answer.action === 'accept'
      ? { action: 'accept', content: filledIn(answer.content) }
      : { action: answer.action }
  })
}

export function rootsAnswer(paths: readonly string[]) {
  return { roots: paths.map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) || path })) }
}

const CANCEL = { action: 'cancel' } as const

/** So many questions of one server may wait for people at once; each is shown to all of them and kept until it is answered. */
const MOST_QUESTIONS = 8

export function filledIn(content: Readonly<Record<string, ElicitedValue>> = {}) {
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
async function ask(question: Elicitation, askable: ReadonlySet<AnswerableRequests>): Promise<ElicitationAnswer> {
  if (new Set([...askable].map(({ options }) => options.caller?.sessionId)).size > 1) return CANCEL
  const one = [...askable].findLast(({ options }) => options.onElicit !== undefined)
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

export function readQuestion(params: JsonObject, server: string): Elicitation | undefined {
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
