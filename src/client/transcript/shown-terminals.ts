/** Terminals that tool calls show: what one has said stays to be seen when the agent lets go of it. */
import { LruMap } from '../../async/lru.ts'
import { fieldsOf } from '../initialize/capabilities.ts'
import type { Services } from '../incoming/client-methods.ts'
import type { ToolCallContent, Update, UpdateParams } from '../incoming/updates.ts'

/** Characters of each that stay, and of how many. */
const LONGEST = 64 * 1024
const MOST = 50

type Parts = readonly ToolCallContent[]

export class ShownTerminals {
  /** What those said that are gone. */
  readonly #said = new LruMap<string, string>(MOST)
  /** The last content of each call that shows a terminal which is there. */
  readonly #calls = new Map<string, { readonly params: UpdateParams; readonly content: Parts }>()

  /** The update as it is to be told: of a terminal that is gone, its words. */
  seen(params: UpdateParams): UpdateParams {
    const { content } = params.update
    if (!params.update.sessionUpdate.startsWith('tool_call') || !Array.isArray(content)) return params
    const parts = (content as Parts).map((part) => this.#inWords(part))
    const key = keyOf(params)
    if (parts.some(isTerminal)) this.#calls.set(key, { params, content: parts })
    else this.#calls.delete(key)
    return parts.some((part, at) => part !== content[at])
      ? withUpdate(params, { ...params.update, content: parts })
      : params
  }

  /** The calls that show it, told once more. */
  released(terminalId: string, output: string): readonly UpdateParams[] {
    this.#said.set(terminalId, output.slice(-LONGEST))
    const shown = [...this.#calls.values()].filter(({ content }) =>
      content.some((part) => isTerminal(part) && part.terminalId === terminalId),
    )
    return shown.map(({ params, content }) => {
      const { toolCallId } = params.update
      return this.seen(withUpdate(params, { sessionUpdate: 'tool_call_update', toolCallId, content }))
    })
  }

  #inWords(part: ToolCallContent): ToolCallContent {
    const said = isTerminal(part) ? this.#said.get(part.terminalId ?? '') : undefined
    return said === undefined ? part : { type: 'content', content: { type: 'text', text: said } }
  }
}

export interface LastWords {
  readonly terminalId: string
  readonly output: string
}

/** Of the terminal that is to be released. */
export async function lastWordsOf({ terminals }: Services, params: unknown): Promise<LastWords | undefined> {
  const { terminalId } = fieldsOf(params)
  if (terminals === undefined || typeof terminalId !== 'string') return undefined
  // Of one that is not there nothing is to be kept; who asks to release it is told so.
  const known = await terminals.output(terminalId).catch(() => undefined)
  return known && { terminalId, output: known.output }
}

function isTerminal({ type }: ToolCallContent): boolean {
  return type === 'terminal'
}

function keyOf({ sessionId, update }: UpdateParams): string {
  return JSON.stringify([sessionId, update['toolCallId']])
}

function withUpdate({ sessionId }: UpdateParams, update: Update): UpdateParams {
  return { sessionId, update }
}
