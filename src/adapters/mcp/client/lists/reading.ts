/** What a server has besides tools: resources to read, prompts to fill in, and suggestions for both. */
import type { CompletionRequest, PromptMessage, ToolRegistry } from '../../../../ports/tools.ts'
import type { CallOptions } from '../../host/mcp-types.ts'
import type { CallLine } from '../request/call.ts'
import { isObject, type JsonObject } from '../../../checking/json.ts'
import { readBodies, readMessages } from './resources-and-prompts.ts'
import { send } from '../request/request.ts'
import { RAW_RESULT } from '../../transport/response-sanitizer.ts'

export async function read(line: CallLine, uri: string, options: CallOptions): ReturnType<ToolRegistry['read']> {
  const answer = await send(line, options, (own) => line.client.readResource({ uri }, { ...own, cacheMode: 'bypass' }))
  return readBodies(rawOf(answer))
}

export async function prompt(
  line: CallLine,
  { original, args }: { readonly original: string; readonly args: Readonly<Record<string, string>> },
  options: CallOptions,
): Promise<readonly PromptMessage[]> {
  const answer = await send(line, options, (own) =>
    line.client.getPrompt({ name: original, arguments: { ...args } }, own),
  )
  return readMessages(rawOf(answer))
}

export async function complete(
  line: CallLine,
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
