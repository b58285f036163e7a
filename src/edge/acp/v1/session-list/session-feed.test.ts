import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SessionChange, SessionSummary } from '../../../../ports/journal.ts'
import { SessionFeed } from './session-feed.ts'

const row = (phase: SessionSummary['phase'], lastSeq: number): SessionSummary => ({
  id: 's-1',
  cwd: '/work',
  additionalDirectories: [],
  agent: 'guide',
  title: null,
  phase,
  lastSeq,
  createdAt: 0,
  updatedAt: 0,
})

test.each([0, 1, 2, 3, 4, 5, 6])(
  'a change that comes %i steps after the last one was sent is sent too',
  async (steps) => {
    const sent: unknown[] = []
    let tell: (change: SessionChange) => void = () => undefined
    const feed = new SessionFeed({
      sessions: {
        list: async () => [row('idle', 1)],
        find: async () => undefined,
        watch: (listener) => {
          tell = listener
          return () => undefined
        },
      },
      transport: {
        isBackpressured: () => false,
        drained: async () => undefined,
        send: (messages) => void sent.push(...messages),
      },
      isUnread: () => false,
      report: expect.unreachable,
    })
    feed.start()
    await setImmediate()
    tell({ kind: 'changed', row: row('working', 2) })
    for (let step = 0; step < steps; step += 1) await Promise.resolve()
    tell({ kind: 'changed', row: row('idle', 3) })
    await setImmediate()
    expect(String(sent.at(-1))).toContain('"phase":"idle"')
  },
)
