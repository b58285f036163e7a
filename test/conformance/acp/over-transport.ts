/** Every case as a test of its own, over one transport: `npx vitest run -t A-TR-3` runs the cases of one requirement. */
import { afterAll, describe, expect, test } from 'vitest'
import { type Case, isTagged } from './case.ts'
import { cases } from './cases/every-case.ts'
import { type Played, obstacleFor, play } from './play.ts'
import { Pool, byKind } from './pool.ts'
import type { Transport } from './transport.ts'

/** Whatever takes longer hangs, on a loaded machine too. Milliseconds. */
const PATIENCE = 60_000

/**
 * Call once in a test file; cases that the transport cannot carry have no test there. All of them are held over one
 * transport, the unix socket, which is the quickest; `carried`: what this transport can spoil. `npm run conformance` has all
 * of them over each.
 */
export function conformsOver(transport: Transport, which: 'all' | 'carried'): void {
  const pool = new Pool()
  afterAll(async () => {
    await pool.close()
    await transport.close()
  })

  const isTried = (one: Case): boolean => which === 'all' || isTagged(one, which)
  const applicable = byKind(cases.filter((one) => isTried(one) && obstacleFor(one, transport) === undefined))
  describe.concurrent(`ACP over ${transport.name}`, () => {
    test.each(applicable.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
      // As one text, because a list of them is not printed in the message.
      expect(faultsOf(await play(one, { transport, pool, patience: PATIENCE })).join('\n')).toBe('')
    })
  })
}

/** What went wrong in the case, and what broke a general rule in its conversation. */
function faultsOf({ verdict, complaints }: Played): readonly string[] {
  const own = verdict.result === 'pass' ? [] : [`${verdict.result}: ${verdict.why}`]
  return [...own, ...[...complaints].flatMap(([row, found]) => found.map((why) => `${row}: ${why}`))]
}
