/** One call of one tool, from its arguments to what it brought. */
import type { Client } from '@modelcontextprotocol/client'
import { fail, reasonOf } from '../../../../errors/parley-error.ts'
import type { ToolResult, CompletionRequest, PromptMessage, ToolRegistry } from '../../../../ports/tools.ts'
import type { CallOptions, Paused, ServerTool } from '../../host/mcp-types.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import { afterDecline } from '../../host/input-required-loop.ts'
import { askForUrls, pauseFor, wantsInput, wordsFor } from './server-requests.ts'
import { askToLogIn, LoginNeeded } from '../../transport/authorization.ts'
import { withModelContent } from './model-content.ts'
import { readResult } from './content.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { Refused, send, type RequestContext } from './request.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'
import { readBodies, readMessages } from '../lists/entries.ts'

export interface CallContext extends RequestContext {
  readonly client: Client
  readonly label: string
  readonly authorization: Authorization | undefined
  readonly roots: () => readonly string[]
}

interface Call {
  readonly tool: ServerTool
  readonly args: JsonObject
  readonly options: CallOptions
}

const NEEDS_URL = -32042

/** A server's refusal is an answer, for the agent to read; everything else is thrown. */
export async function callTool(line: CallContext, call: Call): Promise<ToolResult | Paused> {
  const { onElicit } = call.options
  if (onElicit === undefined) return await attempt(line, call)
  let declined = false
  const listening: NonNullable<CallOptions['onElicit']> = async (question) => {
    const answer = await onElicit(question)
    declined ||= answer.action !== 'accept'
    return answer
  }
  const end = await attempt(line, { ...call, options: { ...call.options, onElicit: listening } })
  return declined && !('pause' in end) ? afterDecline(end) : end
}

async function attempt(line: CallContext, call: Call): Promise<ToolResult | Paused> {
  try {
    return await request(line, call)
  } catch (error) {
    if (error instanceof LoginNeeded) return await afterLogin(line, call, error)
    if (!(error instanceof Refused)) throw error
    const asked = error.code === NEEDS_URL && (await askForUrls(error.data, call.options, line.label))
    // It refused because a page had to be visited first; that was done.
    if (asked) await call.options.onRetry?.(line.redact(error.message))
    if (asked) return await attempt(line, { ...call, options: { ...call.options, onElicit: declines } })
    return { content: [{ type: 'text', text: line.redact(error.message) }], isError: true }
  }
}

/** It was refused unread, so it is sent again when somebody has logged in; but people are not asked twice for one call. */
async function afterLogin(line: CallContext, call: Call, needed: LoginNeeded): Promise<ToolResult | Paused> {
  const { options } = call
  const isIn = await askToLogIn(line, options).catch((error: unknown) =>
    fail('TOOL_NOT_RUN', { tool: options.name, reason: line.redact(reasonOf(error).replace(/\.$/, '')) }),
  )
  if (isIn) await options.onRetry?.(needed.message)
  if (isIn) return await attempt(line, { ...call, options: { ...options, onElicit: declines } })
  const reason = `${needed.message}, and nobody did`
  if (needed.isFinal) line.lose(reason)
  return fail('TOOL_NOT_RUN', { tool: options.name, reason })
}

async function declines(): Promise<{ readonly action: 'decline' }> {
  return { action: 'decline' }
}

async function request(line: CallContext, { tool, args, options }: Call): Promise<ToolResult | Paused> {
  const params = {
    name: tool.serverToolName,
    arguments: args,
    ...(options.given && wordsFor(options.given, line.roots())),
  }
  const answer = await send(line, options, (own) => line.client.callTool(params, { ...own, allowInputRequired: true }))
  if (wantsInput(answer)) return pauseFor(answer, line.label)
  const raw = answer._meta?.[RAW_RESULT]
  const result = isObject(raw) ? raw : answer
  if (isObject(result.task) && result.content === undefined) {
    return fail('TOOL_LOST', {
      tool: options.name,
      reason: 'the server answered with a task, which Parley does not speak yet',
    })
  }
  return withModelContent(readResult(result), options.caller?.toolCallId)
}

export async function read(line: CallContext, uri: string, options: CallOptions): ReturnType<ToolRegistry['read']> {
  const answer = await send(line, options, (own) => line.client.readResource({ uri }, { ...own, cacheMode: 'bypass' }))
  return readBodies(rawOf(answer))
}

export async function prompt(
  line: CallContext,
  { original, args }: { readonly original: string; readonly args: Readonly<Record<string, string>> },
  options: CallOptions,
): Promise<readonly PromptMessage[]> {
  const answer = await send(line, options, (own) =>
    line.client.getPrompt({ name: original, arguments: { ...args } }, own),
  )
  return readMessages(rawOf(answer))
}

export async function complete(
  line: CallContext,
  { of, argument, value, known }: CompletionRequest,
  options: CallOptions,
): Promise<readonly string[]> {
  if (line.client.getServerCapabilities()?.completions === undefined) return []
  const ref =
    'prompt' in of
      ? { type: 'ref/prompt' as const, name: of.prompt }
      : { type: 'ref/resource' as const, uri: of.uriTemplate }
  const context = known === undefined ? {} : { context: { arguments: { ...known } } }
  const wanted = { ref, argument: { name: argument, value }, ...context }
  const { completion } = await send(line, options, (own) => line.client.complete(wanted, own))
  return completion.values
}

function rawOf(answer: { readonly _meta?: JsonObject | undefined }): JsonObject {
  const raw = answer._meta?.[RAW_RESULT]
  return isObject(raw) ? raw : {}
}
