/** The requests that we send to a server: call a tool, read a resource, get a prompt, complete an argument. */
import type { Client } from '@modelcontextprotocol/client'
import { fail, reasonOf } from '../../../../errors/parley-error.ts'
import type { ToolResult, CompletionRequest, PromptMessage, ToolRegistry } from '../../../../ports/tools.ts'
import type { CallOptions, Paused, ServerTool } from '../../host/mcp-types.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import { afterDecline } from '../../host/input-required-loop.ts'
import { askForUrls, pauseFor, wantsInput, inputParams } from './server-requests.ts'
import { askToLogIn, LoginNeeded } from '../../transport/authorization.ts'
import { withModelContent } from './model-content.ts'
import { parseToolResult } from './result-content.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { Refused, sendRequest, type RequestContext } from './request.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'
import { readBodies, readMessages } from '../lists/entries.ts'

export interface CallContext extends RequestContext {
  readonly client: Client
  readonly label: string
  readonly authorization: Authorization | undefined
  readonly roots: () => readonly string[]
}

interface ToolCallRequest {
  readonly tool: ServerTool
  readonly args: JsonObject
  readonly options: CallOptions
}

const NEEDS_URL = -32042

/** A server's refusal becomes a result that the agent can read; every other failure is thrown. */
export async function requestTool(context: CallContext, call: ToolCallRequest): Promise<ToolResult | Paused> {
  const { onElicit } = call.options
  if (onElicit === undefined) return await attempt(context, call)
  let declined = false
  const listening: NonNullable<CallOptions['onElicit']> = async (question) => {
    const answer = await onElicit(question)
    declined ||= answer.action !== 'accept'
    return answer
  }
  const end = await attempt(context, { ...call, options: { ...call.options, onElicit: listening } })
  return declined && !('pause' in end) ? afterDecline(end) : end
}

async function attempt(context: CallContext, call: ToolCallRequest): Promise<ToolResult | Paused> {
  try {
    return await request(context, call)
  } catch (error) {
    if (error instanceof LoginNeeded) return await afterLogin(context, call, error)
    if (!(error instanceof Refused)) throw error
    const asked = error.code === NEEDS_URL && (await askForUrls(error.data, call.options, context.label))
    // The server refused because the user had to visit a page first; that is done now.
    if (asked) await call.options.onRetry?.(context.redact(error.message))
    if (asked) return await attempt(context, { ...call, options: { ...call.options, onElicit: declines } })
    return { content: [{ type: 'text', text: context.redact(error.message) }], isError: true }
  }
}

/** The server did not process the call, so it is sent again after a login. The user is not asked twice for one call. */
async function afterLogin(
  context: CallContext,
  call: ToolCallRequest,
  needed: LoginNeeded,
): Promise<ToolResult | Paused> {
  const { options } = call
  const isIn = await askToLogIn(context, options).catch((error: unknown) =>
    fail('TOOL_NOT_RUN', { tool: options.name, reason: context.redact(reasonOf(error).replace(/\.$/, '')) }),
  )
  if (isIn) await options.onRetry?.(needed.message)
  if (isIn) return await attempt(context, { ...call, options: { ...options, onElicit: declines } })
  const reason = `${needed.message}, and the user did not log in`
  if (needed.isFinal) context.lose(reason)
  return fail('TOOL_NOT_RUN', { tool: options.name, reason })
}

async function declines(): Promise<{ readonly action: 'decline' }> {
  return { action: 'decline' }
}

async function request(context: CallContext, { tool, args, options }: ToolCallRequest): Promise<ToolResult | Paused> {
  const params = {
    name: tool.serverToolName,
    arguments: args,
    ...(options.given && inputParams(options.given, context.roots())),
  }
  const answer = await sendRequest(context, options, (own) =>
    context.client.callTool(params, { ...own, allowInputRequired: true }),
  )
  if (wantsInput(answer)) return pauseFor(answer, context.label)
  const raw = answer._meta?.[RAW_RESULT]
  const result = isObject(raw) ? raw : answer
  if (isObject(result.task) && result.content === undefined) {
    return fail('TOOL_LOST', {
      tool: options.name,
      reason: 'the server answered with a task, which Parley does not speak yet',
    })
  }
  return withModelContent(parseToolResult(result), options.caller?.toolCallId)
}

export async function requestResource(
  context: CallContext,
  uri: string,
  options: CallOptions,
): ReturnType<ToolRegistry['read']> {
  const answer = await sendRequest(context, options, (own) =>
    context.client.readResource({ uri }, { ...own, cacheMode: 'bypass' }),
  )
  return readBodies(rawOf(answer))
}

export async function requestPrompt(
  context: CallContext,
  { original, args }: { readonly original: string; readonly args: Readonly<Record<string, string>> },
  options: CallOptions,
): Promise<readonly PromptMessage[]> {
  const answer = await sendRequest(context, options, (own) =>
    context.client.getPrompt({ name: original, arguments: { ...args } }, own),
  )
  return readMessages(rawOf(answer))
}

export async function requestCompletion(
  context: CallContext,
  { of, argument, value, known }: CompletionRequest,
  options: CallOptions,
): Promise<readonly string[]> {
  if (context.client.getServerCapabilities()?.completions === undefined) return []
  const ref =
    'prompt' in of
      ? { type: 'ref/prompt' as const, name: of.prompt }
      : { type: 'ref/resource' as const, uri: of.uriTemplate }
  const others = known === undefined ? {} : { context: { arguments: { ...known } } }
  const wanted = { ref, argument: { name: argument, value }, ...others }
  const { completion } = await sendRequest(context, options, (own) => context.client.complete(wanted, own))
  return completion.values
}

function rawOf(answer: { readonly _meta?: JsonObject | undefined }): JsonObject {
  const raw = answer._meta?.[RAW_RESULT]
  return isObject(raw) ? raw : {}
}
