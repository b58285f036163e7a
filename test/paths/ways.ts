/** The four requests whose way through the source is traced, each on the real binary with the clients that it needs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultsSpec } from '../../src/ports/fault.ts'
import { type Fields, type Message, updateIn } from '../e2e/message.ts'
import { newSession, promptOf } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import type { Saying } from '../model-server/script.ts'
import type { Stage } from './stage.ts'

/** Monotonic nanoseconds between which files count. */
export interface Window {
  readonly from: bigint
  readonly to: bigint
}

export interface Way {
  readonly name: string
  /** How many files a reader should have to open to follow it. */
  readonly limit: number
  readonly script: readonly Fields[]
  readonly model?: readonly (readonly Saying[])[]
  readonly faults?: FaultsSpec
  walk(stage: Stage): Promise<Window>
}

/** Long enough for what came before to have come to rest, shorter than the pause that the agent makes. */
const SETTLE_MS = 400
const PAUSE_MS = 1_500

/** Passed at every step of everything: a reader knows them from their names, or opens them once and not for a way. */
export const ambient: readonly string[] = [
  'src/adapters/clock.ts', // time and ids, passed in
  'src/adapters/fault.ts', // places where tests cut the power; does nothing in production
  'src/adapters/watchdog/', // the heartbeat that shows a hanging main thread
  'src/async/', // timeouts, aborts, queues
  'src/text/', // small questions about texts
]

/** A thread that passes this file follows the journal to index it for search: it is no part of what a request waits for. */
export const indexer = 'src/adapters/search/worker/'

export const ways: readonly Way[] = [
  {
    name: 'a prompt, from the stdin of an editor to the first chunk on two clients',
    limit: 40,
    // The pause keeps the end of the turn out: the way is over with the first chunk.
    script: [{ chunk: 'Once.' }, { sleepMs: SETTLE_MS }],
    async walk(stage) {
      const { one, other, sessionId } = await stage.twoClients()
      await one.request('session/prompt', promptOf(sessionId, 'first'))
      await sleep(SETTLE_MS)
      const from = process.hrtime.bigint()
      const onBoth = [one, other].map((client) => nextUpdate(client, isChunk))
      one.ask('session/prompt', promptOf(sessionId, 'second'))
      await Promise.all(onBoth)
      return { from, to: process.hrtime.bigint() }
    },
  },
  {
    name: 'a load of a session, from the stdin of an editor to its response',
    limit: 35,
    script: [{ chunk: 'Once.' }],
    async walk(stage) {
      const one = await stage.client()
      const sessionId = await newSession(one, stage.cwd)
      await one.request('session/prompt', promptOf(sessionId, 'first'))
      const other = await stage.client()
      await sleep(SETTLE_MS)
      const from = process.hrtime.bigint()
      await other.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
      return { from, to: process.hrtime.bigint() }
    },
  },
  {
    name: 'a permission, from the call that needs it to the call that runs on two clients',
    limit: 45,
    script: [
      // Files of rules are parsed for the first call, and again only when they have changed.
      { toolCall: { name: 'list_directory', arguments: { path: '.' } } },
      { chunk: 'Once.' },
      { sleepMs: PAUSE_MS },
      { toolCall: { name: 'write_file', arguments: { path: 'note.txt', content: 'x' }, ask: true } },
    ],
    // What the tool does is no part of the way: its call waits until both clients have seen that it runs.
    faults: [{ point: 'tool.started', nth: 2, action: 'delay', ms: PAUSE_MS }],
    async walk(stage) {
      const { one, other, sessionId } = await stage.twoClients()
      answerPermissions(one)
      const said = nextUpdate(one, isChunk)
      one.ask('session/prompt', promptOf(sessionId, 'write'))
      await said
      await sleep(SETTLE_MS)
      const from = process.hrtime.bigint()
      await Promise.all([one, other].map((client) => nextUpdate(client, runs)))
      return { from, to: process.hrtime.bigint() }
    },
  },
  {
    name: 'a tool call of the model, from its words to the next request with the result, no client attached',
    limit: 35,
    script: [],
    model: [
      [{ text: 'Once.' }, { sleepMs: PAUSE_MS }, { call: 'list_directory', args: { path: '.' } }],
      [{ text: 'There.' }],
    ],
    async walk(stage) {
      const one = await stage.client()
      const sessionId = await newSession(one, stage.cwd)
      const said = nextUpdate(one, isChunk)
      one.ask('session/prompt', promptOf(sessionId, 'list'))
      await said
      // The turn runs on without a client: how entries reach clients is the way of a prompt, not of a tool call.
      await one.kill()
      await sleep(SETTLE_MS)
      const from = process.hrtime.bigint()
      await stage.modelRequest(1)
      return { from, to: process.hrtime.bigint() }
    },
  },
]

type Fits = (update: Fields & { readonly sessionUpdate: string }) => boolean

const isChunk: Fits = ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk'
const runs: Fits = ({ sessionUpdate, status }) =>
  sessionUpdate.startsWith('tool_call') && (status === 'in_progress' || status === 'completed')

/** The first update from now on that fits. */
function nextUpdate(client: RawClient, fits: Fits): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.listen((message) => {
      const seen = updateIn(message)
      if (seen === undefined || !fits(seen.update)) return
      stop()
      resolve()
    })
  })
}

function answerPermissions(client: RawClient): void {
  client.listen(({ id, method, params }: Message) => {
    if (method !== 'session/request_permission' || id === undefined) return
    const options = params?.['options'] as readonly { readonly optionId: string; readonly kind: string }[]
    const optionId = options.find(({ kind }) => kind === 'allow_once')?.optionId
    client.reply(id, { outcome: { outcome: 'selected', optionId } })
  })
}
