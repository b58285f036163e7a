/** What `session/update` carries, as far as a face shows it. Everything is optional but the kind: other agents say less, or more. */

export interface UpdateParams {
  readonly sessionId: string
  readonly update: Update
  readonly _meta?: Readonly<Record<string, unknown>> | null
}

/** The kinds that we know are read by their fields; any other is kept as it is. */
export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

/** The words of a chunk; empty for what is no text. */
export function textIn({ content }: Update): string {
  const { type, text } = (content ?? {}) as Partial<Content>
  return type === 'text' && typeof text === 'string' ? text : ''
}

export interface Content {
  readonly type: string
  readonly text?: string
  readonly uri?: string
  readonly name?: string
  readonly title?: string | null
  readonly mimeType?: string | null
  readonly resource?: { readonly uri?: string; readonly text?: string }
}

export interface ToolCallUpdate {
  readonly toolCallId: string
  readonly title?: string | null
  readonly kind?: string | null
  readonly status?: string | null
  readonly content?: readonly ToolCallContent[] | null
  readonly locations?: readonly { readonly path: string; readonly line?: number | null }[] | null
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
}

export interface ToolCallContent {
  readonly type: string
  readonly content?: Content
  readonly path?: string
  readonly oldText?: string | null
  readonly newText?: string
  readonly terminalId?: string
}

export interface PlanEntry {
  readonly content: string
  readonly status?: string
  readonly priority?: string
}

export interface Command {
  readonly name: string
  readonly description?: string
  readonly input?: { readonly hint?: unknown } | null
}

/** One of the answers that a question offers. */
export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: string
}
