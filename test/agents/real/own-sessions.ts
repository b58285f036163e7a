/** A conversation that somebody had with a real agent itself becomes a session of Parley, once. */
import type { RawClient } from '../../e2e/raw-client.ts'
import { until } from '../../fixtures/process/running.ts'
import type { World } from './world.ts'

interface Imported {
  readonly sessionId: string
  readonly turns: number
}

/** What was seen; throws what is wrong. */
export async function importsOwnSession(world: World): Promise<string> {
  const before = world.agentProcesses
  const client = await world.alone()
  const { result, error } = await client.request('session/new', { cwd: world.cwd, mcpServers: [] })
  if (error !== undefined) throw new Error(`the agent alone: ${error.message}`)
  const prompt = [{ type: 'text', text: '#say birch' }]
  const answer = await client.request('session/prompt', { sessionId: result?.['sessionId'], prompt })
  if (answer.error !== undefined) throw new Error(`the agent alone: ${answer.error.message}`)
  await settled(client)
  await ended(world, before)
  const imported = await importAll(world)
  const texts = await Promise.all(imported.map(({ sessionId }) => world.says('show', sessionId)))
  const count = texts.filter((text) => text.includes('said birch.')).length
  if (count !== 1) throw new Error(`${imported.length} imported, ${count} of them with its words`)
  if (texts.some((text) => text.includes('said cedar.'))) throw new Error('the session of Parley was imported too')
  const again = await importAll(world)
  if (again.length > 0) throw new Error(`${again.length} imported twice`)
  return `${imported.length === 1 ? 'imported' : `imported beside ${imported.length - 1} others`}, once`
}

/** Some agents write their store only after the answer. */
async function settled(client: RawClient): Promise<void> {
  const heard = () => client.received.length
  for (let before = -1; before !== heard(); await new Promise((resolve) => setTimeout(resolve, 1_000))) before = heard()
}

/** Somebody who closes the terminal: then the rest of what they started is gone too. */
async function ended(world: World, before: readonly number[]): Promise<void> {
  const own = () => world.agentProcesses.filter((pid) => !before.includes(pid))
  for (const pid of own()) process.kill(pid, 'SIGTERM')
  await until(() => own().length === 0, 5_000).catch(() => {
    for (const pid of own()) process.kill(pid, 'SIGKILL')
  })
}

async function importAll(world: World): Promise<readonly Imported[]> {
  const printed = await world.says('agents', 'import', world.setup.name, '--all', '--json')
  const lines = printed.split('\n').filter((line) => line !== '')
  const rows = lines.map((line) => JSON.parse(line) as { readonly imported?: Imported; readonly skipped?: unknown })
  const failed = rows.find(({ skipped }) => skipped !== undefined && JSON.stringify(skipped).includes('failed'))
  if (failed !== undefined) throw new Error(JSON.stringify(failed.skipped))
  return rows.flatMap(({ imported }) => imported ?? [])
}
