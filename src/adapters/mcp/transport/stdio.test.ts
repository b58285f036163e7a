/** An MCP server on stdio that sends without end gets only its share of the main thread. */
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/fixtures/process/running.ts'
import { systemClock } from '../../clock.ts'
import { openProcesses } from '../../process/open-processes.ts'
import { StdioTransport } from './stdio.ts'

/** How long the transport rested, each time, while it read what the script says. */
async function reading(script: string) {
  const rests: number[] = []
  const sleep: typeof systemClock.sleep = (ms, signal) => {
    rests.push(ms)
    return systemClock.sleep(ms, signal)
  }
  const clock = { ...systemClock, sleep }
  const boot = { home: 'test-talk', id: systemClock.id() }
  const processes = openProcesses({ boot, environment: process.env, clock: systemClock })
  const spec = { command: 'sh', args: ['-c', script], cwd: '/', env: {} }
  const transport = new StdioTransport({ processes, clock, spec, graceMs: 0, onStart: () => undefined })
  const heard: unknown[] = []
  transport.onmessage = (message) => void heard.push(message)
  onTestFinished(async () => {
    await transport.close()
    await processes.close()
  })
  await transport.start()
  return { rests, heard }
}

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'

test.each([
  ['messages', NOTE],
  ['what is no message', 'not JSON at all'],
])('a server that sends %s without end is read with pauses', async (_what, line) => {
  const { rests } = await reading(`yes '${line}'`)
  await until(() => rests.length >= 5)
  expect(rests.filter((ms) => ms <= 0)).toEqual([])
})

test('occasional messages are read at once', async () => {
  const { rests, heard } = await reading(`for n in 1 2 3 4 5; do echo '${NOTE}'; sleep 0.01; done; exec cat`)
  await until(() => heard.length === 5)
  expect(rests).toEqual([])
})
