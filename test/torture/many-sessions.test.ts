/** The short version of `npm run kill -- mcp`. */
import { expect, test } from 'vitest'
import { cleanUpServers, placeWith } from '../e2e/server.ts'
import { manySessions } from './many-sessions.ts'

cleanUpServers()

test('sessions that are closed leave no process, nor does a killed server and guard after the next start [S5]', async () => {
  const place = await placeWith([{ chunk: 'ready' }])
  const figures = await manySessions(place, 10)
  expect(figures).toMatchObject({ sessions: 10, afterClosing: 0, afterRestart: 0 })
  expect(figures.most).toBeGreaterThanOrEqual(15)
  // Otherwise the restart had nothing to find.
  expect(figures.afterKilling).toBeGreaterThan(0)
}, 180_000)
