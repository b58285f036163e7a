/** A conversation in the words of the packages. The same messages always give the same prompt, whatever follows them. */
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
import type { Content, EmbeddedResource, ResourceLink } from '../../../ports/content.ts'
import type { Clock } from '../../../ports/clock.ts'

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

/** What a model takes besides text. */
interface Takes {
  readonly image: boolean
  readonly audio: boolean
  readonly pdf: boolean
}

type Shown = LanguageModelV3TextPart | LanguageModelV3FilePart

function shown(content: Content, takes: Takes): Shown {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'image':
      return takes.image ? picture(content, 'image') : leftOut('image', content.mimeType)
    case 'audio':
      return takes.audio && isCommonAudio(content.mimeType)
        ? file(content, 'audio')
        : leftOut('audio', content.mimeType)
    case 'resource_link':
      return { type: 'text', text: linkText(content) }
    case 'resource':
      return embedded(content, takes)
  }
}

/** Only text: what tools gave, for providers whose results take nothing else. */
function textOf(content: readonly Content[], takes: Takes): string {
  const parts = content.map((one) => shown(one, takes))
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}: shown below]`)).join('\n')
}

function embedded({ resource }: EmbeddedResource, takes: Takes): Shown {
  if ('text' in resource)
    return { type: 'text', text: `<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>` }
  const mimeType = resource.mimeType ?? 'application/octet-stream'
  const data = { data: resource.blob, mimeType }
  if (mimeType.startsWith('image/') && takes.image) return picture(data, resource.uri)
  return mimeType === 'application/pdf' && takes.pdf ? file(data, resource.uri) : leftOut(resource.uri, mimeType)
}

interface Data {
  readonly data: string
  readonly mimeType: string
}

/** A provider refuses what it cannot show, and with it every later request of the conversation. */
function picture({ data, mimeType }: Data, what: string): Shown {
  const known = PICTURES[mimeType.toLowerCase()]
  return known === undefined ? leftOut(what, mimeType) : file({ data, mimeType: known }, what)
}

const PICTURES: Readonly<Record<string, string>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

function file({ data, mimeType }: Data, what: string): LanguageModelV3FilePart | LanguageModelV3TextPart {
  const bare = data.replaceAll(/\s+/gu, '')
  if (!/^[A-Za-z\d+/]+={0,2}$/u.test(bare)) return leftOut(what, mimeType, 'its data is not in base64')
  return { type: 'file', data: bare, mediaType: mimeType }
}

function leftOut(what: string, mimeType: string, why = 'this model cannot take it'): LanguageModelV3TextPart {
  return { type: 'text', text: `[${what} (${mimeType}) left out: ${why}]` }
}

function linkText({ uri, name, title, description }: ResourceLink): string {
  const about = description ? `: ${description}` : ''
  return `[${title ?? name}](${uri})${about}`
}

/** The formats that every provider with ears knows. */
function isCommonAudio(mimeType: string): boolean {
  return ['audio/wav', 'audio/mp3', 'audio/mpeg'].includes(mimeType)
}

/** Halves of characters taken out: providers refuse a request with one, and so every later request of its conversation. */

const HALF = /\p{Surrogate}/u
const HALVES = /\p{Surrogate}/gu

/** The same value, in which no text and no name has half of a character; the very same where none had. */
function stripLoneSurrogates<T>(value: T): T {
  return soundly(value) as T
}

function soundly(value: unknown): unknown {
  if (typeof value === 'string') return HALF.test(value) ? value.replaceAll(HALVES, '\uFFFD') : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const all: readonly unknown[] = value
    const made = all.map(soundly)
    return made.every((one, at) => one === all[at]) ? value : made
  }
  const entries = Object.entries(value)
  const made = entries.map(([name, one]) => [soundly(name), soundly(one)] as const)
  const isSame = made.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(made)
}

export interface ProviderMetadata {
  /** The name of the provider. */
  readonly from: string
  /** What it called a tool call. */
  readonly id?: string
  readonly metadata?: SharedV3ProviderMetadata
}

/** Undefined for what another provider said, or a journal from elsewhere. */
function ofProvider(kept: unknown, provider: string): ProviderMetadata | undefined {
  if (typeof kept !== 'object' || kept === null) return undefined
  const keepsake = kept as ProviderMetadata
  return keepsake.from === provider ? keepsake : undefined
}

const LENGTH = 9

/** Nine letters and digits, the strictest that any provider asks of an id that is sent to it. */
export function newCallId(clock: Clock): string {
  const chance = BigInt(`0x${clock.id().replaceAll(/[^0-9a-f]/gu, '') || '0'}`)
  const id = (chance % 36n ** BigInt(LENGTH)).toString(36)
  return id.padStart(LENGTH, '0')
}

/**
 * What each call is called when it is sent. The first call of an id keeps it for ever, so what was sent before is sent
 * unchanged however the conversation grows.
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
