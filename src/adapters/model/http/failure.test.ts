/** Every way in which providers say how long they want to be left alone. */
import { expect, test } from 'vitest'
import { retryAfter } from './failure.ts'

const now = Date.UTC(2026, 10, 21, 12, 0, 0)
const ANTHROPIC = { 'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:00:05Z' }

test.each<[Readonly<Record<string, string>>, string, number | undefined]>([
  [{}, '', undefined],
  [{ 'retry-after': '12' }, '', 12_000],
  [{ 'retry-after': '0.5' }, '', 500],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, '', 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, '', 0],
  [{ 'retry-after': 'soon' }, '', undefined],
  [{ 'retry-after': '-5' }, '', 0],
  [{ 'retry-after': '1e300' }, '', 86_400_000],
  [{ 'retry-after': 'Infinity' }, '', undefined],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, '', 250],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, '', 360_000],
  [{ 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '6m0s' }, '', undefined],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20ms' }, '', 20],
  [{ ...ANTHROPIC, 'anthropic-ratelimit-input-tokens-remaining': '0' }, '', 5000],
  [{ 'x-ratelimit-reset': String(now + 4000) }, '', 4000],
  [{ 'x-ratelimit-reset': String(now / 1000 + 4) }, '', 4000],
  [{ 'x-ratelimit-reset': '4' }, '', 4000],
  [{}, '{"retryDelay":"34s"}', 34_000],
  [{}, '{"retryDelay": "34.07s"}', 34_070],
  [{}, 'Please try again in 1m2.5s.', 62_500],
])('%o %s', (headers, body, ms) => {
  expect(retryAfter({ headers, body }, now)).toBe(ms)
})
