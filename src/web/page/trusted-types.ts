/** The one policy that turns a text into the address of a script. It passes the addresses that the page was built with, and no others. */

interface Policy {
  createScriptURL(address: string): unknown
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(address: string): string }): Policy
}

let policy: Policy | undefined

/** The address that the page has under this name; undefined where it has none. */
export function scriptAddress(name: 'highlight-worker'): unknown {
  const address = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content
  return address === undefined ? undefined : trusted(address)
}

/** The address of the service worker, beside the page. */
export function workerUrl(): unknown {
  return trusted('./sw.js')
}

function trusted(address: string): unknown {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: PolicyFactory }
  // A browser without Trusted Types does not ask for them.
  if (trustedTypes === undefined) return address
  policy ??= trustedTypes.createPolicy('parley', { createScriptURL: onlyOurs })
  return policy.createScriptURL(address)
}

function onlyOurs(address: string): string {
  if (address === './sw.js' || /^\.\/a\/[\w-]+\/highlight\.js$/u.test(address)) return address
  throw new TypeError('This page starts no other script.')
}
