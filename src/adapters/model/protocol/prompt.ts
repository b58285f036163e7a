/** A conversation in the words of the packages. The same messages always give the same prompt, whatever follows them. */
import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider'
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolResult,
  ToolMessage,
} from '../../../ports/model.ts'
import { sentIds } from './call-ids.ts'
import { type Shown, shown, type Takes, textOf } from './content.ts'
import { ofProvider } from './provider-metadata.ts'
import { stripLoneSurrogates } from './strip-lone-surrogates.ts'

/** How a provider takes a conversation. */
export interface Manner {
  /** Its name: only what it said itself goes back with signatures. */
  readonly provider: string
  readonly takes: Takes
  /** Results of tools may hold pictures. */
  readonly picturesInResults: boolean
  /** It wants its thoughts back, or bears them. */
  readonly thoughts: boolean
  /** It refuses, or misunderstands, who speaks twice in a row, and people right after results of tools. */
  readonly turns: boolean
}

/** Where the model was cut off before its first word, or said nothing. */
const SILENCE = said('[No answer.]')
const LOOKING = said('Let me look at what was shown.')

/** What messages came to in one manner. */
export type Written = WeakMap<ModelMessage, readonly LanguageModelV3Message[]>

/** A context has its old messages in every request: those that are `written` already are not written again. */
export function promptOf(
  { system, messages }: Pick<ModelRequest, 'system' | 'messages'>,
  manner: Manner,
  written: Written = new WeakMap(),
): LanguageModelV3Prompt {
  const how = { manner, ids: sentIds(messages, manner.provider) }
  const plain = messages.flatMap((message) => {
    const known = written.get(message)
    if (known !== undefined) return known
    const made = stripLoneSurrogates(messagesOf(message, how))
    if (isAlone(message)) written.set(message, made)
    return made
  })
  const told = manner.turns ? inTurns(plain) : plain
  return system === '' ? [...told] : [{ role: 'system', content: stripLoneSurrogates(system) }, ...told]
}

/** What stands between depends on nothing that follows, so that a prompt goes on as it began. */
function inTurns(prompt: readonly LanguageModelV3Message[]): readonly LanguageModelV3Message[] {
  return prompt.flatMap((message, at) => {
    const former = prompt[at - 1]?.role ?? 'assistant'
    return message.role === 'user' && former !== 'assistant' ? [SILENCE, message] : [message]
  })
}

function said(text: string): LanguageModelV3Message {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** Same list, same answer: it stays for many requests, and its schemas are large. */
const toldTools = new WeakMap<readonly ModelTool[], LanguageModelV3FunctionTool[]>()

export function toolsOf(tools: readonly ModelTool[]): LanguageModelV3FunctionTool[] {
  const known = toldTools.get(tools)
  if (known !== undefined) return known
  const made = tools.map(({ name, description, schema }) =>
    stripLoneSurrogates<LanguageModelV3FunctionTool>({ type: 'function', name, description, inputSchema: schema }),
  )
  toldTools.set(tools, made)
  return made
}

/** The ids of calls hang on what stands before them, and that may be made shorter. */
function isAlone(message: ModelMessage): boolean {
  return message.role === 'user' || (message.role === 'assistant' && message.parts.every(({ kind }) => kind !== 'call'))
}

interface How {
  readonly manner: Manner
  readonly ids: ReadonlyMap<string, string>
}

function messagesOf(message: ModelMessage, how: How): readonly LanguageModelV3Message[] {
  switch (message.role) {
    case 'user': {
      const content = message.content.map((one) => shown(one, how.manner.takes)).filter(isSomething)
      return content.length === 0 ? [] : [{ role: 'user', content }]
    }
    case 'assistant': {
      const content = assistantParts(message, how)
      return content.length === 0 ? [] : [{ role: 'assistant', content }]
    }
    case 'tool':
      return toolMessages(message, how)
  }
}

/** Providers refuse empty texts. */
function isSomething(part: Shown): boolean {
  return part.type !== 'text' || part.text !== ''
}

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']

function assistantParts({ parts }: AssistantMessage, how: How): AssistantContent {
  return parts.flatMap((part) => assistantPart(part, how))
}

function assistantPart(part: AssistantPart, { manner, ids }: How): AssistantContent {
  const metadata = ofProvider(part.provider, manner.provider)?.metadata
  const back = metadata === undefined ? {} : { providerOptions: metadata }
  if (part.kind === 'call') {
    const toolCallId = ids.get(part.id) ?? part.id
    return [{ type: 'tool-call', toolCallId, toolName: sentName(part.name), input: objectOf(part.args), ...back }]
  }
  if (part.text === '' && metadata === undefined) return []
  if (part.kind === 'text') return [{ type: 'text', text: part.text, ...back }]
  const isOwn = ofProvider(part.provider, manner.provider) !== undefined
  return manner.thoughts && isOwn ? [{ type: 'reasoning', text: part.text, ...back }] : []
}

/** A model may call what it likes; a provider refuses a conversation in which a tool has a name that none can have. */
function sentName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, 64) || '_'
}

/** Every provider takes an object, and some take nothing else. */
function objectOf(args: unknown): unknown {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {}
}

/** Pictures that a result cannot hold follow the results, as if a person had shown them. */
function toolMessages({ results }: ToolMessage, how: How): readonly LanguageModelV3Message[] {
  const content = results.map((result) => resultPart(result, how))
  const told: LanguageModelV3Message = { role: 'tool', content }
  const textual = results.filter(({ isError }) => isError || !how.manner.picturesInResults)
  const pictures = textual.flatMap((result) => picturesOf(result, how.manner.takes))
  if (pictures.length === 0) return [told]
  return [told, ...(how.manner.turns ? [LOOKING] : []), { role: 'user', content: pictures }]
}

function resultPart(result: ModelToolResult, { manner, ids }: How): LanguageModelV3ToolResultPart {
  const { id, name } = result
  return {
    type: 'tool-result',
    toolCallId: ids.get(id) ?? id,
    toolName: sentName(name),
    output: outputOf(result, manner),
  }
}

function outputOf(
  { content, isError }: ModelToolResult,
  { takes, picturesInResults }: Manner,
): LanguageModelV3ToolResultOutput {
  const text = () => textOf(content, takes) || '(it gave no output)'
  // An error is marked as one only where it is a text.
  if (isError) return { type: 'error-text', value: text() }
  const parts = content.map((one) => shown(one, takes)).filter(isSomething)
  if (!picturesInResults || parts.every((part) => part.type === 'text')) return { type: 'text', value: text() }
  const value = parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text } as const
    const { mediaType } = part
    const type = mediaType.startsWith('image/') ? 'image-data' : 'file-data'
    return { type, data: String(part.data), mediaType } as const
  })
  return { type: 'content', value }
}

function picturesOf({ name, content }: ModelToolResult, takes: Takes): Shown[] {
  const pictures = content.map((one) => shown(one, takes)).filter((part) => part.type === 'file')
  return pictures.length === 0 ? [] : [{ type: 'text', text: `What ${name} showed:` }, ...pictures]
}
