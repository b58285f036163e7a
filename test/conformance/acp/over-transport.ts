/** Every case as a test of its own, over one transport: `npx vitest run -t A-TR-3` runs the cases of one requirement. */
import { afterAll, describe, expect, test } from 'vitest'
import { cases } from './cases/every-case.ts'
import { type Played, obstacleFor, play } from './play.ts'
import { Pool, byKind } from './pool.ts'
import type { Transport } from './transport.ts'

/** Whatever takes longer hangs, on a loaded machine too. Milliseconds. */
const PATIENCE = 60_000

/**
 * What a transport can spoil: order, ids, replays, requests to the client. The rest is held over one transport, the unix
 * socket, which is the quickest; `npm run conformance` has all of it over each.
 */
export const CARRIED = /^A-(?:TR|JR|IN|LD|RS|CL|PM|CA|CR|EL|DL|FS|TM)-/u

/** Call once in a test file; cases that the transport cannot carry have no test there. `rows` narrows them down. */
export function conformsOver(transport: Transport, rows = /^A-/u): void {
  const pool = new Pool()
  afterAll(async () => {
    await pool.close()
    await transport.close()
  })

  const applicable = byKind(cases.filter((one) => rows.test(one.row) && obstacleFor(one, transport) === undefined))
  describe.concurrent(`ACP over ${transport.name}`, () => {
    test.each(applicable.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
      expect(faultsOf(await play(one, { transport, pool, patience: PATIENCE }))).toEqual([])
    })
  })
}

/** What went wrong in the case, and what broke a general rule in its conversation. */
function faultsOf({ verdict, complaints }: Played): readonly string[] {
  const own = verdict.result === 'pass' ? [] : [`${verdict.result}: ${verdict.why}`]
  return [...own, ...[...complaints].flatMap(([row, found]) => found.map((why) => `${row}: ${why}`))]
}
