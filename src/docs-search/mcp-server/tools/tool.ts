/** The common parts of the document server's tools. */
import type { CallToolResult, JSONObject, Tool } from '@modelcontextprotocol/server'
import { fail } from '../../../errors/parley-error.ts'
import { problemOfQuery } from '../../index/query/query-limits.ts'
import type { CollectionView } from '../../collections/view.ts'

export interface DocumentTool {
  readonly name: string
  /** The description of the tool, which names the present collections. */
  definition(collections: readonly string[]): Tool
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

/** The schema of the argument that `Arguments.scope` takes. */
export function scopeSchema(collections: readonly string[]): JSONObject {
  return {
    type: 'array',
    items: { type: 'string', enum: [...collections] },
    description: 'Only in these collections; in all of them if absent.',
  }
}

/** The arguments of a call, each checked when it is taken, and what the caller may see. */
export class Arguments {
  readonly view: CollectionView
  readonly #tool: string
  readonly #values: Readonly<Record<string, unknown>>

  constructor(tool: string, values: Readonly<Record<string, unknown>> | undefined, view: CollectionView) {
    this.#tool = tool
    this.#values = values ?? {}
    this.view = view
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.refuse(`${name} is missing; give it as a string`)
  }

  optionalText(name: string): string | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    return typeof value === 'string' ? value : this.refuse(`${name} must be a string`)
  }

  /** A text that has at least one term to search for. */
  query(name: string): string {
    const query = this.text(name)
    const problem = problemOfQuery(query)
    return problem === undefined ? query : this.refuse(`${name} ${problem}`)
  }

  /** A whole number, also as a string, as some models and programs send it. Undefined when it is not given. */
  integer(name: string, least: number, most: number): number | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
    return fits ? number : this.refuse(`${name} must be a whole number from ${least} to ${most}`)
  }

  /** One of a few words. Undefined when it is not given. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.optionalText(name)
    if (text === undefined) return undefined
    return choices.find((choice) => choice === text) ?? this.refuse(`${name} must be one of ${choices.join(', ')}`)
  }

  /** A date, or a date with a time, as ISO 8601 in UTC. */
  date(name: string): string | undefined {
    const text = this.optionalText(name)
    if (text === undefined) return undefined
    const date = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : undefined
    if (date === undefined || Number.isNaN(date.getTime())) {
      return this.refuse(`${name} must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z`)
    }
    return date.toISOString()
  }

  /** The collections to look into: those that are named, one of them also as a string; else all. */
  scope(): readonly string[] {
    const value = this.#values['scope']
    const open = this.view.all()
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return open
    const names: readonly unknown[] = Array.isArray(value) ? value : [value]
    const unknown = names.find((name) => typeof name !== 'string' || !open.includes(name))
    if (unknown !== undefined) {
      const known = open.length === 0 ? 'there are none' : `there are ${open.join(', ')}`
      this.refuse(`scope names ${JSON.stringify(unknown).slice(0, 100)}, which is no collection; ${known}`)
    }
    return names.map(String)
  }

  refuse(reason: string): never {
    return fail('TOOL_ARGUMENTS', { tool: this.#tool, reason })
  }
}

/** A result for programs with its form for readers. */
export function result(structuredContent: Record<string, unknown>, ...texts: readonly string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })), structuredContent }
}
