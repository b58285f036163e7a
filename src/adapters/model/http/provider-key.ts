/** The key of a provider: never shown in what the provider says, and named where it is missing. */
import type { Provider } from '../../../ports/values/provider.ts'

const MAX_MESSAGE_CHARS = 400

/** Removes keys, and addresses that may contain them. */
export function redact(words: string, { key, headers }: Pick<Provider, 'key' | 'headers'>): string {
  let clean = words
  for (const secret of [key, ...Object.values(headers)]) {
    if (secret !== undefined && secret.length > 3) clean = clean.replaceAll(secret, '…')
  }
  clean = clean
    .replaceAll(/(https?:\/\/)[^\s/@]*@/gu, '$1')
    .replaceAll(/(https?:\/\/[^\s?"']*)\?[^\s"']*/gu, '$1')
    .replaceAll(/\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_]?[-\w*]{12,}/gu, '…')
    .replaceAll(/\b(Bearer)\s+\S+/giu, '$1 …')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return clean.length > MAX_MESSAGE_CHARS ? `${clean.slice(0, MAX_MESSAGE_CHARS)}…` : clean
}

/** The name of the environment variable that error messages ask the user to set. */
export function whereKey({ keyNames, name }: Provider): string {
  return keyNames[0] ?? `the key of [providers.${name}]`
}
