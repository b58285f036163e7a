/** What every tool of the document server has in common. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { fail } from '../../errors/parley-error.ts'
import { parseQuery } from '../../text/query.ts'

export interface DocumentTool {
  readonly definition: Tool
  /** Throws what the catalogue says; the caller makes it a result that a model can act on. */
  call(args: Arguments): Promise<CallToolResult>
}

/** Nothing is changed, nothing outside the served directories is reached, and asking twice does no harm. */
export const READS_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

const LONGEST_QUERY = 1_000
const MOST_WORDS = 64

/** The arguments of a call, each checked when it is taken. */
export class Arguments {
  readonly #tool: string
  readonly #values: Readonly<Record<string, unknown>>

  constructor(tool: string, values: Readonly<Record<string, unknown>> | undefined) {
    this.#tool = tool
    this.#values = values ?? {}
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.refuse(`${name} is missing; give it as a string`)
  }

  optionalText(name: string): string | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    return typeof value === 'string' ? value : this.refuse(`${name} must be a string`)
  }

  /** Text with something in it that can be searched for. */
  query(name: string): string {
    const query = this.text(name)
    if (query.length > LONGEST_QUERY) {
      this.refuse(`${name} has ${query.length} characters; give at most ${LONGEST_QUERY}, a few words find more`)
    }
    const words = parseQuery(query).length
    if (words === 0) this.refuse(`${name} has no letter or number in it; give one word or more`)
    if (words > MOST_WORDS) this.refuse(`${name} has ${words} words; give at most ${MOST_WORDS}`)
    return query
  }

  /** A whole number, also as a string, as some models and programs send it. Undefined when it is not given. */
  whole(name: string, least: number, most: number): number | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
    return fits ? number : this.refuse(`${name} must be a whole number from ${least} to ${most}`)
  }

  refuse(reason: string): never {
    return fail('TOOL_ARGUMENTS', { tool: this.#tool, reason })
  }
}

/** A result for programs with its form for readers. */
export function result(structuredContent: Record<string, unknown>, ...texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })), structuredContent }
}
