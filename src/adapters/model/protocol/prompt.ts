/**
 * Converts a conversation to a provider's prompt. The same messages always give the same prompt, whichever messages
 * follow, so that the provider's cache stays valid.
 */
import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
  LanguageModelV3FilePart,
  LanguageModelV3TextPart,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider'
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolResult,
  ToolMessage,
  ModelToolCall,
} from '../../../ports/model.ts'
import type { Content, EmbeddedResource, ResourceLink } from '../../../ports/values/content.ts'
import type { Clock } from '../../../ports/clock.ts'

/** The messages that a provider accepts in a conversation. */
export interface PromptRules {
  /** The provider's name: signatures are returned only to the provider that made them. */
  readonly provider: string
  readonly takes: AcceptedContent
  /** Tool results may contain images. */
  readonly picturesInResults: boolean
  /** Reasoning may be sent back. */
  readonly thoughts: boolean
  /** It refuses or misreads two messages of one role in a row, and a user message directly after tool results. */
  readonly turns: boolean
}

/** Stands for an answer that was cut before its first word or is empty. */
const NO_ANSWER = assistantText('[No answer.]')
const LOOK_AT_IMAGES = assistantText('Let me look at what was shown.')

/** Messages that were converted before. */
export type ConvertedMessages = WeakMap<ModelMessage, readonly LanguageModelV3Message[]>

/** Every request repeats the old messages; those in `written` are not converted again. */
export function promptOf(
  { system, messages }: Pick<ModelRequest, 'system' | 'messages'>,
  manner: PromptRules,
  written: ConvertedMessages = new WeakMap(),
): LanguageModelV3Prompt {
  const how = { manner, ids: sentIds(messages, manner.provider) }
  const plain = messages.flatMap((message) => {
    const known = written.get(message)
    if (known !== undefined) return known
    const made = stripLoneSurrogates(messagesOf(message, how))
    if (isAlone(message)) written.set(message, made)
    return made
  })
  const turns = manner.turns ? alternatingRoles(plain) : plain
  return system === '' ? [...turns] : [{ role: 'system', content: stripLoneSurrogates(system) }, ...turns]
}

/** A placeholder depends on nothing that follows it, so that a prompt only ever grows at its end. */
function alternatingRoles(prompt: readonly LanguageModelV3Message[]): readonly LanguageModelV3Message[] {
  return prompt.flatMap((message, at) => {
    const former = prompt[at - 1]?.role ?? 'assistant'
    return message.role === 'user' && former !== 'assistant' ? [NO_ANSWER, message] : [message]
  })
}

function assistantText(text: string): LanguageModelV3Message {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** Cached per list: a list stays for many requests, and its schemas are large. */
const convertedTools = new WeakMap<readonly ModelTool[], LanguageModelV3FunctionTool[]>()

export function toolsOf(tools: readonly ModelTool[]): LanguageModelV3FunctionTool[] {
  const known = convertedTools.get(tools)
  if (known !== undefined) return known
  const made = tools.map(({ name, description, schema }) =>
    stripLoneSurrogates<LanguageModelV3FunctionTool>({ type: 'function', name, description, inputSchema: schema }),
  )
  convertedTools.set(tools, made)
  return made
}

/** Ids of calls depend on the messages before them, which compaction may replace. */
function isAlone(message: ModelMessage): boolean {
  return message.role === 'user' || (message.role === 'assistant' && message.parts.every(({ kind }) => kind !== 'call'))
}

interface ConversionContext {
  readonly manner: PromptRules
  readonly ids: ReadonlyMap<string, string>
}

function messagesOf(message: ModelMessage, how: ConversionContext): readonly LanguageModelV3Message[] {
  switch (message.role) {
    case 'user': {
      const content = message.content.map((one) => promptPart(one, how.manner.takes)).filter(isNotEmpty)
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
function isNotEmpty(part: PromptPart): boolean {
  return part.type !== 'text' || part.text !== ''
}

type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']

function assistantParts({ parts }: AssistantMessage, how: ConversionContext): AssistantContent {
  return parts.flatMap((part) => assistantPart(part, how))
}

function assistantPart(part: AssistantPart, { manner, ids }: ConversionContext): AssistantContent {
  const metadata = ofProvider(part.provider, manner.provider)?.metadata
  const back = metadata === undefined ? {} : { providerOptions: metadata }
  if (part.kind === 'call') {
    const toolCallId = ids.get(part.id) ?? part.id
    return [{ type: 'tool-call', toolCallId, toolName: validToolName(part.name), input: objectOf(part.args), ...back }]
  }
  if (part.text === '' && metadata === undefined) return []
  if (part.kind === 'text') return [{ type: 'text', text: part.text, ...back }]
  const isOwn = ofProvider(part.provider, manner.provider) !== undefined
  return manner.thoughts && isOwn ? [{ type: 'reasoning', text: part.text, ...back }] : []
}

/** A model may invent a tool name; providers refuse conversations with invalid ones. */
function validToolName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, 64) || '_'
}

/** Some providers accept only objects as arguments. */
function objectOf(args: unknown): unknown {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {}
}

/** Images that a result cannot contain follow the results as a user message. */
function toolMessages({ results }: ToolMessage, how: ConversionContext): readonly LanguageModelV3Message[] {
  const content = results.map((result) => resultPart(result, how))
  const toolMessage: LanguageModelV3Message = { role: 'tool', content }
  const textual = results.filter(({ isError }) => isError || !how.manner.picturesInResults)
  const pictures = textual.flatMap((result) => imagesOf(result, how.manner.takes))
  if (pictures.length === 0) return [toolMessage]
  return [toolMessage, ...(how.manner.turns ? [LOOK_AT_IMAGES] : []), { role: 'user', content: pictures }]
}

function resultPart(result: ModelToolResult, { manner, ids }: ConversionContext): LanguageModelV3ToolResultPart {
  const { id, name } = result
  return {
    type: 'tool-result',
    toolCallId: ids.get(id) ?? id,
    toolName: validToolName(name),
    output: outputOf(result, manner),
  }
}

function outputOf(
  { content, isError }: ModelToolResult,
  { takes, picturesInResults }: PromptRules,
): LanguageModelV3ToolResultOutput {
  const text = () => textOf(content, takes) || '(it gave no output)'
  // Only text results can be marked as errors.
  if (isError) return { type: 'error-text', value: text() }
  const parts = content.map((one) => promptPart(one, takes)).filter(isNotEmpty)
  if (!picturesInResults || parts.every((part) => part.type === 'text')) return { type: 'text', value: text() }
  const value = parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text } as const
    const { mediaType } = part
    const type = mediaType.startsWith('image/') ? 'image-data' : 'file-data'
    return { type, data: String(part.data), mediaType } as const
  })
  return { type: 'content', value }
}

function imagesOf({ name, content }: ModelToolResult, takes: AcceptedContent): PromptPart[] {
  const pictures = content.map((one) => promptPart(one, takes)).filter((part) => part.type === 'file')
  return pictures.length === 0 ? [] : [{ type: 'text', text: `What ${name} showed:` }, ...pictures]
}

/** The kinds of content that a model accepts besides text. */
interface AcceptedContent {
  readonly image: boolean
  readonly audio: boolean
  readonly pdf: boolean
}

type PromptPart = LanguageModelV3TextPart | LanguageModelV3FilePart

function promptPart(content: Content, takes: AcceptedContent): PromptPart {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'image':
      return takes.image ? imagePart(content, 'image') : placeholderFor('image', content.mimeType)
    case 'audio':
      return takes.audio && isCommonAudio(content.mimeType)
        ? file(content, 'audio')
        : placeholderFor('audio', content.mimeType)
    case 'resource_link':
      return { type: 'text', text: linkText(content) }
    case 'resource':
      return embedded(content, takes)
  }
}

/** Tool results as text, for providers whose results accept nothing else. */
function textOf(content: readonly Content[], takes: AcceptedContent): string {
  const parts = content.map((one) => promptPart(one, takes))
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}: shown below]`)).join('\n')
}

function embedded({ resource }: EmbeddedResource, takes: AcceptedContent): PromptPart {
  if ('text' in resource)
    return { type: 'text', text: `<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>` }
  const mimeType = resource.mimeType ?? 'application/octet-stream'
  const data = { data: resource.blob, mimeType }
  if (mimeType.startsWith('image/') && takes.image) return imagePart(data, resource.uri)
  return mimeType === 'application/pdf' && takes.pdf ? file(data, resource.uri) : placeholderFor(resource.uri, mimeType)
}

interface Data {
  readonly data: string
  readonly mimeType: string
}

/** A provider refuses content that it does not support, and with it every later request of the conversation; so it is named instead. */
function imagePart({ data, mimeType }: Data, what: string): PromptPart {
  const known = IMAGE_TYPES[mimeType.toLowerCase()]
  return known === undefined ? placeholderFor(what, mimeType) : file({ data, mimeType: known }, what)
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

function file({ data, mimeType }: Data, what: string): LanguageModelV3FilePart | LanguageModelV3TextPart {
  const bare = data.replaceAll(/\s+/gu, '')
  if (!/^[A-Za-z\d+/]+={0,2}$/u.test(bare)) return placeholderFor(what, mimeType, 'its data is not in base64')
  return { type: 'file', data: bare, mediaType: mimeType }
}

function placeholderFor(what: string, mimeType: string, why = 'this model cannot take it'): LanguageModelV3TextPart {
  return { type: 'text', text: `[${what} (${mimeType}) left out: ${why}]` }
}

function linkText({ uri, name, title, description }: ResourceLink): string {
  const about = description ? `: ${description}` : ''
  return `[${title ?? name}](${uri})${about}`
}

/** Audio formats that all providers with audio input accept. */
function isCommonAudio(mimeType: string): boolean {
  return ['audio/wav', 'audio/mp3', 'audio/mpeg'].includes(mimeType)
}

/** Removes lone surrogates: providers refuse a request with one, and so every later request of the conversation. */

const LONE_SURROGATE = /\p{Surrogate}/u
const LONE_SURROGATES = /\p{Surrogate}/gu

/** The same value without lone surrogates in texts and keys; the identical object if there were none. */
function stripLoneSurrogates<T>(value: T): T {
  return withoutLoneSurrogates(value) as T
}

function withoutLoneSurrogates(value: unknown): unknown {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? value.replaceAll(LONE_SURROGATES, '\uFFFD') : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const all: readonly unknown[] = value
    const made = all.map(withoutLoneSurrogates)
    return made.every((one, at) => one === all[at]) ? value : made
  }
  const entries = Object.entries(value)
  const made = entries.map(([name, one]) => [withoutLoneSurrogates(name), withoutLoneSurrogates(one)] as const)
  const isSame = made.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(made)
}

export interface ProviderMetadata {
  /** The name of the provider. */
  readonly from: string
  /** The provider's id of a tool call. */
  readonly id?: string
  readonly metadata?: SharedV3ProviderMetadata
}

/** Undefined for a message of another provider, and for an imported journal. */
function ofProvider(kept: unknown, provider: string): ProviderMetadata | undefined {
  if (typeof kept !== 'object' || kept === null) return undefined
  const keepsake = kept as ProviderMetadata
  return keepsake.from === provider ? keepsake : undefined
}

const CALL_ID_LENGTH = 9

/** Nine letters and digits: the strictest format of ids that a provider requires. */
export function newCallId(clock: Clock): string {
  const chance = BigInt(`0x${clock.id().replaceAll(/[^0-9a-f]/gu, '') || '0'}`)
  const id = (chance % 36n ** BigInt(CALL_ID_LENGTH)).toString(36)
  return id.padStart(CALL_ID_LENGTH, '0')
}

/**
 * The id with which each call is sent. The first call with an id keeps it, so that what was sent before is sent
 * unchanged while the conversation grows.
 */
function sentIds(messages: readonly ModelMessage[], provider: string): ReadonlyMap<string, string> {
  const sent = new Map<string, string>()
  const taken = new Set<string>()
  for (const call of messages.flatMap(callsOf)) {
    const own = ofProvider(call.provider, provider)?.id
    const id = own === undefined || own === '' || taken.has(own) ? call.id : own
    taken.add(id)
    sent.set(call.id, id)
  }
  return sent
}

function callsOf(message: ModelMessage): readonly ModelToolCall[] {
  return message.role === 'assistant' ? message.parts.filter((part) => part.kind === 'call') : []
}
