/** A code becomes a cookie, which no script can read. The code stands in the fragment of a link: in no log and no proxy. */
import { keep } from '../sessions/kept.ts'

/** The code in the address of the page, and where the command was typed that printed it; gone from the address and the history when this returns. */
export function takeCode(): string {
  const code = codeIn(location.hash)
  if (code !== '') keep('directory', directoryIn(location.hash))
  if (code !== '') history.replaceState(history.state, '', `${location.pathname}${location.search}`)
  return code
}

/** `#pair=CODE`, with a directory behind it or not, or the code alone. */
export function codeIn(hash: string): string {
  const text = hash.replace(/^#/u, '')
  return /^(?:(?:pair|share|code)=)?([\w-]{16,})(?:&in=[^&]*)?$/u.exec(text)?.[1] ?? ''
}

/** `#pair=CODE&in=DIRECTORY`. */
export function directoryIn(hash: string): string {
  return new URLSearchParams(hash.slice(1)).get('in') ?? ''
}

/** Undefined when the server knows this device now; else why not. A link to one session leads there. */
export async function pair(code: string): Promise<string | undefined> {
  try {
    const { status, ok, answer } = await post(codeIn(code) || code)
    if (ok) return await follow(answer)
    if (status === 404) return 'not known'
    return status === 401 ? 'not valid' : answer.trim()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** False when the server says that the browser has not kept the cookie. The code is spent: a lost connection is no reason to ask for another. */
async function isKnown(): Promise<boolean> {
  try {
    const response = await fetch(new URL('device', document.baseURI), { method: 'POST' })
    return ((await response.json()) as { readonly known?: boolean }).known !== false
  } catch {
    return true
  }
}

/** The tab of a share link is one of its own: it names the link to the server, whatever device this is. */
async function follow(answer: string): Promise<string | undefined> {
  const { share, sessionId } = JSON.parse(answer) as { readonly share?: unknown; readonly sessionId?: unknown }
  if (typeof share !== 'string' || typeof sessionId !== 'string') return (await isKnown()) ? undefined : 'no cookie'
  location.replace(`./?${new URLSearchParams({ session: sessionId, share }).toString()}`)
  return undefined
}

async function post(code: string): Promise<{ readonly status: number; readonly ok: boolean; readonly answer: string }> {
  const response = await fetch(new URL('pair', document.baseURI), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, name: deviceName() }),
  })
  return { status: response.status, ok: response.ok, answer: await response.text() }
}

/** What other devices see of this one. */
export function deviceName(): string {
  const agent = navigator.userAgent
  const system = ['iPhone', 'iPad', 'Android', 'Mac OS', 'Windows', 'Linux'].find((one) => agent.includes(one))
  return system === undefined ? 'Browser' : `Browser on ${system === 'Mac OS' ? 'Mac' : system}`
}
