/** What a client can show besides the baseline, as it says in `initialize`: what it does not name is kept from it. */

export interface ClientCapabilities {
  /** Options that are true or false. */
  readonly booleans: boolean
  readonly compaction: boolean
  readonly notices: boolean
}

/** What whoever knows everything is told. */
export const allCapabilities: ClientCapabilities = { booleans: true, compaction: true, notices: true }

/** The same object for the same words: what is told in one dialect is written once for all who speak it. */
export function parseClientCapabilities(params: unknown): ClientCapabilities {
  const { configOptions, compaction, notices } = fieldsOf(fieldsOf(fieldsOf(params)['clientCapabilities'])['session'])
  const { boolean } = fieldsOf(configOptions)
  return interned({ booleans: isOffered(boolean), compaction: isOffered(compaction), notices: isOffered(notices) })
}

const known = new Map<string, ClientCapabilities>([[JSON.stringify(allCapabilities), allCapabilities]])

function interned(dialect: ClientCapabilities): ClientCapabilities {
  const key = JSON.stringify(dialect)
  const first = known.get(key) ?? dialect
  known.set(key, first)
  return first
}

/** These capabilities are objects; anything else offers nothing. */
function isOffered(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isOffered(value) ? (value as Readonly<Record<string, unknown>>) : {}
}
