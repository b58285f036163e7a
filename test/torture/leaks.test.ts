/** Many sessions with many servers, and nothing that stays behind. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { messageLog, openBench } from '../fixtures/mcp/servers.ts'
import { never, scriptedStdio } from '../fixtures/mcp/torture.ts'
import { carrying } from '../fixtures/process/running.ts'

const openFiles = (): number => readdirSync('/proc/self/fd').length

test('forty sessions with three servers each leave no process and no open file, however far they came', async () => {
  const bench = openBench({ limits: { graceMs: 100 } })
  const log = messageLog()
  const scripts = ['honest', 'has a grandchild that ignores every signal', 'stays at the end of its input']
  const servers = scripts.map((script) => Object.assign(scriptedStdio(script, log.path), { name: script.slice(0, 5) }))
  const counts: number[] = []
  try {
    for (let round = 0; round < 4; round++) {
      const sessions = Array.from({ length: 10 }, () => bench.open(servers))
      // In every other round they are closed while their servers still start.
      if (round % 2 === 0) await Promise.all(sessions.map((one) => one.ready(60_000, never)))
      await Promise.all(sessions.map((one) => one.close()))
      expect(carrying(bench.marker)).toEqual([])
      counts.push(openFiles())
    }
    expect(Math.max(...counts) - (counts[0] ?? 0)).toBeLessThan(10)
  } finally {
    await bench.close()
  }
}, 180_000)
