/** JSON-RPC as a test sees it on the wire: nothing is checked, stripped or defaulted. */

export type Fields = Readonly<Record<string, unknown>>

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Fields
}

export interface Message {
  readonly jsonrpc: string
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Fields
  readonly result?: Fields
  readonly error?: RpcError
}

export type Update = Fields & { readonly sessionUpdate: string }

/** One `session/update` as it arrived. */
export interface SeenUpdate {
  readonly sessionId: string
  /** The cursor in `_meta["parley/seq"]`. */
  readonly seq: number
  readonly update: Update
}

/** The update that a message carries, if it is one. */
export function updateIn({ method, params }: Message): SeenUpdate | undefined {
  if (method !== 'session/update' || params === undefined) return undefined
  const { sessionId, update, _meta } = params as { sessionId: string; update: Update; _meta?: Fields }
  return { sessionId, update, seq: Number(_meta?.['parley/seq']) }
}

export function updatesIn(messages: readonly Message[], sessionId?: string): readonly SeenUpdate[] {
  const updates = messages.flatMap((message) => updateIn(message) ?? [])
  return sessionId === undefined ? updates : updates.filter((update) => update.sessionId === sessionId)
}

/** The text of a chunk of a message; empty for any other update. */
export function textOf({ update }: SeenUpdate): string {
  if (!update.sessionUpdate.endsWith('_chunk')) return ''
  const { text } = update['content'] as { readonly text?: string }
  return text ?? ''
}

/** The first option of a question that allows the thing once. */
export function allowing({ params }: Message): string {
  const options = (params?.['options'] ?? []) as readonly { readonly kind: string; readonly optionId: string }[]
  return (options.find(({ kind }) => kind === 'allow_once') ?? options[0])?.optionId ?? ''
}
