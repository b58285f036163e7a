/** Who a client says that it is, in `initialize`. */
import type { SubscribedClient } from '../../../../session/subscribers/subscribers.ts'

/** Characters of a name that others are shown. */
const LONGEST_NAME = 200

export function parseClientInfo(params: unknown): SubscribedClient {
  const { clientInfo } = (params ?? {}) as { readonly clientInfo?: Readonly<Record<string, unknown>> | null }
  const [name, title, version] = [clientInfo?.['name'], clientInfo?.['title'], clientInfo?.['version']].map(named)
  return {
    name: name ?? 'unknown',
    ...(title === undefined ? {} : { title }),
    ...(version === undefined ? {} : { version }),
  }
}

function named(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_NAME) : undefined
}
