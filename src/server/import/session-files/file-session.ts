/** The content of another tool's session file, in the terms of a session here. */
import { fail } from '../../../errors/parley-error.ts'
import type { EarlierUpdate } from '../../../ports/agent.ts'
import type { Content, ToolCallPatch, ToolKind } from '../../../ports/values/content.ts'
import { isNestedDeeper } from '../../../text/nesting.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'

export interface SessionFile {
  readonly path: string
  readonly text: string
}

/** A turn with the time of its prompt, in milliseconds since 1970. */
export interface FileTurn {
  readonly at?: number
  readonly prompt: readonly Content[]
  readonly said: readonly EarlierUpdate[]
}

export interface FileSession {
  /** The tool's own id. */
  readonly id: string
  /** Absolute. */
  readonly cwd: string
  readonly title?: string
  readonly updatedAt?: number
  readonly turns: readonly FileTurn[]
  /** Kinds of content that this Parley does not know, which are not in the turns. */
  readonly leftOut: readonly string[]
}

interface CallEnd {
  readonly text: string
  readonly isError: boolean
}

/** Deeper values cannot be stored. */
const DEEPEST = 150
const MAX_TITLE_CHARS = 500

/** Collects the turns of one file. */
export class FileSessionBuilder {
  readonly #path: string
  readonly #turns: { at?: number; prompt: readonly Content[]; said: EarlierUpdate[] }[] = []
  readonly #leftOut = new Set<string>()
  readonly #calls = new Set<string>()
  #updatedAt: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** `time` is an ISO time or milliseconds; anything else is ignored. */
  seen(time: unknown): number | undefined {
    const at = typeof time === 'string' ? Date.parse(time) : time
    if (typeof at !== 'number' || !(at >= 0 && at < 8.64e15)) return undefined
    this.#updatedAt = Math.max(this.#updatedAt ?? 0, Math.floor(at))
    return Math.floor(at)
  }

  prompt(content: readonly Content[], time: unknown): void {
    const at = this.seen(time)
    if (content.length > 0) this.#turns.push({ prompt: content, said: [], ...(at !== undefined && { at }) })
  }

  say(role: 'agent' | 'thought', text: unknown): void {
    if (typeof text === 'string' && text !== '') this.#add({ kind: 'chunk', role, content: { type: 'text', text } })
  }

  call(toolCallId: string, name: string, rawInput: unknown): void {
    this.#calls.add(toolCallId)
    const title = titleOf(name, rawInput)
    const patch: ToolCallPatch = { title, name, kind: kindOfToolName(name), status: 'pending', rawInput }
    this.#add({ kind: 'call', toolCallId, patch })
  }

  /** The end of a call that the file does not have is ignored. */
  ended(toolCallId: string, { text, isError }: CallEnd): void {
    if (!this.#calls.has(toolCallId)) return
    const content = text === '' ? [] : [{ type: 'content', content: { type: 'text', text } } as const]
    this.#add({ kind: 'call', toolCallId, patch: { status: isError ? 'failed' : 'completed', content } })
  }

  leaveOut(kind: unknown): void {
    this.#leftOut.add(String(kind).slice(0, 40))
  }

  session({ id, cwd, title }: { id: unknown; cwd: unknown; title?: unknown }): FileSession {
    if (typeof id !== 'string' || id === '') return unreadable(this.#path, 1, 'it does not name its session')
    if (typeof cwd !== 'string' || !cwd.startsWith('/') || cwd.includes('\0'))
      return unreadable(this.#path, 1, 'it does not say the directory of its session')
    return {
      id,
      cwd,
      ...(typeof title === 'string' && title.trim() !== '' && { title: title.slice(0, MAX_TITLE_CHARS) }),
      ...(this.#updatedAt !== undefined && { updatedAt: this.#updatedAt }),
      turns: this.#turns,
      leftOut: [...this.#leftOut],
    }
  }

  /** What comes before the first prompt is a turn without one. */
  #add(update: EarlierUpdate): void {
    if (this.#turns.length === 0) this.#turns.push({ prompt: [], said: [] })
    this.#turns.at(-1)?.said.push(update)
  }
}

/** Each line of the file as an object, with its number. Throws IMPORT_INVALID. */
export function* recordsOf({ path, text }: SessionFile): Generator<Fields> {
  for (const [index, line] of text.split('\n').entries())
    if (line.trim() !== '') yield objectIn({ path, text: line }, index + 1)
}

/** Throws IMPORT_INVALID. The value may be a secret, and is not in the error. */
export function objectIn({ path, text }: SessionFile, line = 1): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unreadable(path, line, 'it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unreadable(path, line, 'it is not an object')
  if (isNestedDeeper(value, DEEPEST)) return unreadable(path, line, 'it is nested too deeply')
  return value as Fields
}

function unreadable(path: string, line: number, reason: string): never {
  return fail('IMPORT_INVALID', { path, line, reason })
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

export function textOrEmpty(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** The picture of a `data:` address. */
export function imageOf(url: unknown): readonly Content[] {
  const [, mimeType = '', data = ''] = /^data:([\w/+.-]+);base64,(.*)$/su.exec(textOrEmpty(url)) ?? []
  return data === '' ? [] : [{ type: 'image', mimeType, data }]
}

const TITLE_FIELDS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'description',
] as const

function titleOf(name: string, input: unknown): string {
  const fields = fieldsOf(input)
  const what = TITLE_FIELDS.map((field) => fields[field]).find((value) => typeof value === 'string' && value !== '')
  return typeof what === 'string' ? `${name}: ${(what.split('\n')[0] ?? '').slice(0, 200)}` : name
}

const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/shell|bash|exec|command|terminal/iu, 'execute'],
  [/edit|write|patch|replace/iu, 'edit'],
  [/fetch/iu, 'fetch'],
  [/search|grep|glob|list|find/iu, 'search'],
  [/read|view/iu, 'read'],
]

function kindOfToolName(name: string): ToolKind {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}
