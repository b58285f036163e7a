/** What a client is told beyond ACP, if it asked for it in `initialize`: `_parley/<name>` notifications. */

/** Those that there are; advertised in the answer. */
export const NOTICES = ['turn', 'queue', 'presence', 'mcp', 'server'] as const

export type NoticeName = (typeof NOTICES)[number]

/** Names that are not ours are for other servers. */
export function wantedNotices(params: unknown): ReadonlySet<NoticeName> {
  const { clientCapabilities } = (params ?? {}) as { readonly clientCapabilities?: Meta | null }
  const wanted = clientCapabilities?._meta?.['parley/notifications']
  return new Set(Array.isArray(wanted) ? NOTICES.filter((name) => wanted.includes(name)) : [])
}

interface Meta {
  readonly _meta?: Readonly<Record<string, unknown>> | null
}
