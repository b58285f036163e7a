/** `parley status --watch` looks at the server every two seconds. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { Cli, endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

test('parley status --watch shows the server again and again until it is interrupted, and the next one too, with its memory and its journal', async () => {
  const home = freshDirectory()
  const agent = await scriptAgent(home, [{ chunk: 'Hello.' }])
  await parley(['run', 'Hi'], { home, agent })
  const watching = new Cli(['status', '--watch', '--json'], { home })
  // What comes after the last newline is not whole.
  const seen = () => watching.stdout.split('\n').slice(0, -1)
  await until(() => seen().length > 0)
  expect(JSON.parse(seen()[0] ?? '')).toMatchObject({
    queued: 0,
    residentBytes: expect.any(Number),
    journalBytes: expect.any(Number),
  })
  const former = pidOf(seen()[0])
  await parley(['stop'], { home })
  await parley(['run', 'Hi'], { home, agent })
  await until(() => pidOf(seen().at(-1)) !== former)
  watching.child.kill('SIGINT')
  expect(await watching.finished).toMatchObject({ code: 0, stderr: '' })
})

function pidOf(line = '{}'): unknown {
  return (JSON.parse(line) as { readonly pid?: unknown }).pid
}
