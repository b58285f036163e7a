/** How long a provider wants to be left alone, in whichever way it says so. */

interface Told {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const SECOND = 1000
/** Nobody means more; what says so counts from another year. */
const MOST_MS = 24 * 60 * 60 * SECOND

/** Undefined where it does not say. `now` is the wall's. */
export function retryAfter({ headers, body }: Told, now: number): number | undefined {
  const found = [
    () => number(headers['retry-after-ms']),
    () => secondsOrDate(headers['retry-after'], now),
    () => used(headers, now),
    () => momentOrSeconds(headers['x-ratelimit-reset'], now),
    () => duration(/"retryDelay"\s*:\s*"([^"]+)"/u.exec(body)?.[1]),
    () => duration(/try again in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/iu.exec(body)?.[1]),
  ]
  for (const look of found) {
    const ms = look()
    if (ms !== undefined) return Math.min(Math.max(0, Math.round(ms)), MOST_MS)
  }
  return undefined
}

/** Several limits are told at once: the one that is used up counts, and of several the last to be free again. */
function used(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    const match = /^(x-ratelimit|anthropic-ratelimit)-(?:(?:remaining-(\w+))|(?:([\w-]+)-remaining))$/u.exec(name)
    if (match === null || Number(value) > 0) return []
    const [, family, openai, anthropic] = match
    const reset = openai === undefined ? headers[`${family}-${anthropic}-reset`] : headers[`${family}-reset-${openai}`]
    return [duration(reset) ?? secondsOrDate(reset, now)].filter((ms) => ms !== undefined)
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

function number(text: string | undefined): number | undefined {
  return text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text)
}

function secondsOrDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const seconds = number(text)
  if (seconds !== undefined) return seconds * SECOND
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : moment - now
}

/** A moment in seconds or milliseconds since 1970, or a number of seconds from now. */
function momentOrSeconds(text: string | undefined, now: number): number | undefined {
  const value = number(text)
  if (value === undefined) return duration(text) ?? secondsOrDate(text, now)
  if (value > 1e12) return value - now
  return value > 1e9 ? value * SECOND - now : value * SECOND
}

const UNITS: Readonly<Record<string, number>> = { h: 3600 * SECOND, m: 60 * SECOND, s: SECOND, ms: 1 }

/** `6m0s`, `1.5s`, `20ms`. */
function duration(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:\d+(?:\.\d+)?(?:ms|[hms]))+$/iu.test(text)) return undefined
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/gu)]
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0)
}
