/** The output of an agent's own terminals, which some send in `_meta` of tool calls: collected, bounded, and shown as text. */
import type { ToolCallContent, ToolCallPatch } from '../../../../ports/values/content.ts'
import { fieldsOf, isFields, type Fields } from '../../../../rpc/json-rpc.ts'

/** Characters of one terminal that are kept: its end. */
const MAX_OUTPUT_CHARS = 64 * 1024

interface Terminal {
  output: string
  isCut: boolean
  /** Characters at the last time that the output was shown; the next time is at twice as many. */
  shown: number
  hasEnded: boolean
}

export class TerminalOutputs {
  readonly #terminals = new Map<string, Terminal>()
  /** The contents of each call as they were last given. */
  readonly #contents = new Map<string, readonly ToolCallContent[]>()

  /** The patch with the output in place of the terminals, whenever there is enough more of it to show. */
  apply(toolCallId: string, patch: ToolCallPatch, raw: Fields): ToolCallPatch {
    if (patch.content !== undefined) this.#contents.set(toolCallId, patch.content)
    const meta = fieldsOf(raw['_meta'])
    const isMore = this.#take(meta)
    const content = this.#contents.get(toolCallId) ?? []
    const mine = content.flatMap((one) => (one.type === 'terminal' ? (this.#terminals.get(one.terminalId) ?? []) : []))
    if (mine.length === 0) return patch
    const { meta: _terminalMeta, ...rest } = patch
    const kept = isMore ? rest : patch
    const isOver = patch.status === 'completed' || patch.status === 'failed'
    const isDue =
      isOver || patch.content !== undefined || mine.some((one) => one.hasEnded || one.output.length > 2 * one.shown)
    if (!isDue) return kept
    for (const one of mine) one.shown = one.output.length
    return { ...kept, content: content.map((one) => this.#shown(one)) }
  }

  /** Whether the `_meta` was about a terminal. */
  #take(meta: Fields): boolean {
    const about = ['terminal_info', 'terminal_output', 'terminal_output_delta', 'terminal_exit'] as const
    const given = about.filter((key) => isFields(meta[key]))
    for (const key of given) this.#apply(key, fieldsOf(meta[key]))
    return given.length > 0
  }

  #apply(key: string, { terminal_id: id, data, exit_code: code, signal }: Fields): void {
    if (typeof id !== 'string') return
    const terminal = this.#terminals.get(id) ?? { output: '', isCut: false, shown: 0, hasEnded: false }
    this.#terminals.set(id, terminal)
    if (typeof data === 'string') {
      const output = terminal.output + data
      terminal.isCut ||= output.length > MAX_OUTPUT_CHARS
      terminal.output = output.slice(-MAX_OUTPUT_CHARS)
    }
    if (key !== 'terminal_exit') return
    terminal.hasEnded = true
    if (typeof code === 'number' && code !== 0) terminal.output += `\n(exit code ${code})`
    else if (typeof signal === 'string') terminal.output += `\n(signal ${signal})`
  }

  #shown(content: ToolCallContent): ToolCallContent {
    if (content.type !== 'terminal') return content
    const terminal = this.#terminals.get(content.terminalId)
    if (terminal === undefined) return content
    const output = terminal.isCut ? `(the beginning is left out)\n${terminal.output}` : terminal.output
    return { ...content, output }
  }
}
