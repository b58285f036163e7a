/** What a client can show besides the baseline, as it says in `initialize`: what it does not name is kept from it. */

export interface Dialect {
  /** Options that are true or false. */
  readonly booleans: boolean
  readonly compaction: boolean
  readonly notices: boolean
}

/** What whoever knows everything is told. */
export const everything: Dialect = { booleans: true, compaction: true, notices: true }

/** The same object for the same words: what is told in one dialect is written once for all who speak it. */
export function dialectOf(params: unknown): Dialect {
  const { configOptions, compaction, notices } = fieldsOf(fieldsOf(fieldsOf(params)['clientCapabilities'])['session'])
  const { boolean } = fieldsOf(configOptions)
  return interned({ booleans: isOffered(boolean), compaction: isOffered(compaction), notices: isOffered(notices) })
}

const known = new Map<string, Dialect>([[JSON.stringify(everything), everything]])

function interned(dialect: Dialect): Dialect {
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
