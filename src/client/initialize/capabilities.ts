/** What an agent says that it can, read leniently: what it omits it cannot, and what we do not know is ignored. */

export interface Capabilities {
  readonly load: boolean
  readonly resume: boolean
  readonly list: boolean
  readonly close: boolean
  readonly delete: boolean
  readonly additionalDirectories: boolean
  readonly mcp: { readonly http: boolean; readonly sse: boolean }
}

type Fields = Readonly<Record<string, unknown>>

export function capabilitiesOf(result: Fields): Capabilities {
  const agent = fieldsOf(result['agentCapabilities'])
  const sessions = fieldsOf(agent['sessionCapabilities'])
  // One of ACP's founding texts says `mcp` for what the schema calls `mcpCapabilities`.
  const mcp = fieldsOf(agent['mcpCapabilities'] ?? agent['mcp'])
  return {
    load: agent['loadSession'] === true,
    resume: offers(sessions['resume']),
    list: offers(sessions['list']),
    close: offers(sessions['close']),
    delete: offers(sessions['delete']),
    additionalDirectories: offers(sessions['additionalDirectories']),
    mcp: { http: mcp['http'] === true, sse: mcp['sse'] === true },
  }
}

/** People are shown the title, else the name. */
export function agentNameOf(result: Fields): string {
  const { title, name } = fieldsOf(result['agentInfo'])
  return [title, name].find((text): text is string => typeof text === 'string' && text !== '') ?? 'the agent'
}

/** An object means yes; older agents say true. */
function offers(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null)
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
