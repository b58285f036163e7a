/** What a cancel takes: until the model's stream is closed, until a command that runs has ended, and until the turn has. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { initialize, newSession, promptOf, startParley } from '../../../test/e2e/parley.ts'
import type { RawClient } from '../../../test/e2e/raw-client.ts'
import type { Saying } from '../../../test/model-server/script.ts'
import { startModelServer } from '../../../test/model-server/server.ts'
import { type Measuring, type Row, median, ms } from '../../row.ts'
import { freshHome } from '../../scene.ts'

/** Until what was cancelled is gone, and until the answer to a turn that only streamed. Milliseconds. */
const GOAL_GONE = 100
const GOAL_ANSWER = 4

interface Stage {
  readonly client: RawClient
  readonly sessionId: string
  /** Resolves when there is something to cancel. */
  readonly begun: () => Promise<void>
  /** Resolves when what was cancelled is gone. */
  readonly gone: () => Promise<void>
}

export async function cancel({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const repeats = quick ? 5 : 30
  return [...(await ofStream(directory, repeats)), ...(await ofCommand(directory, repeats))]
}

function ofStream(directory: string, repeats: number): Promise<readonly Row[]> {
  return measured(
    'stream is closed',
    { directory, repeats, say: [{ text: 'words' }, { silence: true }], goalMs: GOAL_ANSWER },
    (stage) => {
      const { client, server } = stage
      const had = client.received.length
      return {
        begun: () => until(() => client.received.slice(had).some(isChunk)),
        gone: () => server.quiet(),
      }
    },
  )
}

function ofCommand(directory: string, repeats: number): Promise<readonly Row[]> {
  const say = [{ call: 'run_command', args: { command: 'echo $$ >> pid; exec sleep 300' } }]
  return measured('command has ended', { directory, repeats, say }, ({ cwd }) => {
    const file = join(cwd, 'pid')
    rmSync(file, { force: true })
    const runs = () => existsSync(`/proc/${readFileSync(file, 'utf8').trim()}/cwd`)
    return {
      begun: () => until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')),
      gone: () => until(() => !runs()),
    }
  })
}

interface Setting {
  readonly directory: string
  readonly repeats: number
  readonly say: readonly Saying[]
  /** For the answer of the cancelled turn. */
  readonly goalMs?: number
}

type Watching = (stage: {
  readonly client: RawClient
  readonly server: Awaited<ReturnType<typeof startModelServer>>
  readonly cwd: string
}) => Pick<Stage, 'begun' | 'gone'>

async function measured(
  what: string,
  { directory, repeats, say, goalMs }: Setting,
  watch: Watching,
): Promise<readonly Row[]> {
  const server = await startModelServer([{ always: true, say }])
  const env = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const client = startParley({ home: freshHome(directory), agent: 'model:openai:scripted', env })
  try {
    await initialize(client)
    const cwd = freshHome(directory)
    const sessionId = await newSession(client, cwd)
    await client.request('session/set_mode', { sessionId, modeId: 'allow-all' })
    const [gone, ended]: [number[], number[]] = [[], []]
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const took = await once({ client, sessionId, ...watch({ client, server, cwd }) })
      gone.push(took.gone)
      ended.push(took.ended)
    }
    return [
      row(`cancel: until the ${what}, p50`, gone, GOAL_GONE),
      row('cancel: until that turn is answered, p50', ended, goalMs),
    ]
  } finally {
    await client.kill()
    await server.close()
  }
}

async function once({ client, sessionId, begun, gone }: Stage): Promise<{ gone: number; ended: number }> {
  const turn = client.request('session/prompt', promptOf(sessionId, 'go'))
  await begun()
  const from = performance.now()
  client.notify('session/cancel', { sessionId })
  const since = () => performance.now() - from
  const [goneAfter, endedAfter] = await Promise.all([gone().then(since), turn.then(since)])
  return { gone: goneAfter, ended: endedAfter }
}

/** Without a goal it only shows what was measured. */
function row(what: string, took: readonly number[], goalMs: number | undefined): Row {
  const middle = median(took)
  const floor = `${ms(Math.max(...took))} the slowest of ${took.length}`
  const goal = goalMs === undefined ? '–' : `≤ ${goalMs} ms`
  return { what, measured: ms(middle), goal, floor, ok: goalMs === undefined || middle <= goalMs }
}

function isChunk(message: object): boolean {
  return JSON.stringify(message).includes('agent_message_chunk')
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await sleep(1)
}
