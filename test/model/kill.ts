/** One run of the kill test of the model agent: its process dies at some moment of a turn, and the next goes on from there. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, type Message, updatesIn } from '../e2e/message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import { type Chance, chanceOf } from '../series/chance.ts'
import type { Asked, Saying } from '../model-server/script.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'

export interface KillResult {
  readonly seed: number
  /** Where it was cut. */
  readonly cut: string
  /** What must never be; empty when all is well. */
  readonly findings: readonly string[]
}

const POINTS = [
  'turn.started',
  'tool.started',
  'tool.finished',
  'permission.asked',
  'permission.answered',
  'session.batch.stored',
  'session.batch.published',
  'journal.transaction.committed',
  'turn.ended',
] as const

/** Results that a step asks for in one turn before it answers in words. */
const STEPS = 3

interface Scene {
  readonly home: string
  readonly cwd: string
  readonly effects: string
  readonly server: ModelServer
  readonly chance: Chance
}

export async function killRun(seed: number): Promise<KillResult> {
  const directory = freshDirectory()
  const chance = chanceOf(seed)
  const server = await startModelServer((asked) => saying(asked, chance))
  const cwd = join(directory, 'work')
  mkdirSync(cwd)
  const scene = { home: join(directory, 'home'), cwd, effects: join(directory, 'effects'), server, chance }
  try {
    const { cut, wrong } = await live(scene)
    return { seed, cut, findings: [...wrong, ...effectsWrong(scene), ...contextsWrong(server.requests)] }
  } catch (error) {
    return { seed, cut: 'broken off', findings: [`the run broke off: ${String(error)}`] }
  } finally {
    await server.close()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Words that drip, then calls, until the turn has had enough of them. */
function saying({ index, messages }: Asked, chance: Chance): readonly Saying[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const steps = messages.slice(asked).filter(({ role }) => role === 'assistant').length
  const words = { text: [`Step ${index}: `, 'some ', 'words. '], times: 3, everyMs: chance.between(0, 4) }
  const usage = { usage: { input: 100 + index, output: 20 } }
  if (steps >= STEPS) return [words, usage]
  const calls = Array.from({ length: chance.between(1, 3) }, (_, at) => ({
    call: 'appending__append',
    args: { label: `r${index}-${at}` },
  }))
  return [{ reasoning: 'Hm.' }, words, ...calls, usage]
}

async function live(scene: Scene): Promise<{ cut: string; wrong: readonly string[] }> {
  const { chance } = scene
  const byFault = chance.happens(0.6)
  const point = chance.pick(POINTS)
  const nth = chance.between(1, point.startsWith('t') || point.startsWith('p') ? 4 : 40)
  const faults = byFault ? { PARLEY_FAULTS: JSON.stringify([{ point, action: 'kill', nth }]) } : {}
  const waits = !byFault && chance.happens(0.4)
  const first = start(scene, 1, faults)
  const answering = waits ? () => {} : answers(first, chance)
  const sessionId = await opened(first, scene).catch((error: unknown) => {
    // A fault may be met by what a session writes as it is opened: then there is no turn to look at.
    if (byFault && first.gone) return undefined
    throw error
  })
  if (sessionId === undefined) return { cut: `${point} ${nth}`, wrong: [] }
  first.ask('session/prompt', promptOf(sessionId, 'go'))
  if (waits) await first.until(({ method }) => method === 'session/request_permission')
  else if (byFault) await Promise.race([first.exited, idle(first)])
  else await pause(chance.between(0, 400))
  await first.kill()
  answering()
  await scene.server.quiet()
  const cut = byFault ? `${point} ${nth}` : waits ? 'a question' : 'the clock'
  return { cut, wrong: await after(scene, sessionId) }
}

/** The next owner: what was suspended is answered, and the conversation goes on. */
async function after(scene: Scene, sessionId: string): Promise<readonly string[]> {
  const client = start(scene, 2)
  try {
    await initialize(client)
    const stop = answers(client, scene.chance)
    const servers = mcpServers(scene, 2)
    await client.request('session/load', { sessionId, cwd: scene.cwd, mcpServers: servers })
    const { result, error } = await client.request('session/prompt', promptOf(sessionId, 'continue'))
    stop()
    const ended = result?.['stopReason'] === 'end_turn'
    return [...(ended ? [] : [`the turn after it did not end: ${error?.message}`]), ...openCalls(client.received)]
  } finally {
    if (!client.gone) await client.kill()
  }
}

function start({ home, server }: Scene, life: number, env: Readonly<Record<string, string>> = {}): RawClient {
  const keys = { OPENAI_API_KEY: `sk-life-${life}`, OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  return startParley({ home, agent: 'model:openai:scripted', env: { ...keys, ...env } })
}

async function opened(client: RawClient, scene: Scene): Promise<string> {
  await initialize(client)
  return newSession(client, scene.cwd, mcpServers(scene, 1))
}

function mcpServers({ effects }: Scene, life: number): readonly Fields[] {
  const script = new URL('../kill/appending-server.sh', import.meta.url).pathname
  return [{ name: 'appending', command: '/bin/sh', args: [script, effects, `${life}`], env: [] }]
}

/** Says yes, at times no; gives what stops that. */
function answers(client: RawClient, chance: Chance): () => void {
  const answer = ({ id, method }: Message): void => {
    if (method !== 'session/request_permission') return
    const optionId = chance.happens(0.8) ? 'allow_once' : 'reject_once'
    client.reply(id, { outcome: { outcome: 'selected', optionId } })
  }
  return client.listen(answer)
}

/** A fault that is never reached kills nobody. */
async function idle(client: RawClient): Promise<void> {
  await client.until(
    ({ id, method, result }) => method === undefined && id !== null && result?.['stopReason'] !== undefined,
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A call that the transcript leaves open. */
function openCalls(received: readonly Message[]): readonly string[] {
  const status = new Map<string, string>()
  for (const { update } of updatesIn(received)) {
    if (typeof update['toolCallId'] === 'string' && typeof update['status'] === 'string')
      status.set(update['toolCallId'], update['status'])
  }
  const open = [...status].filter(([, one]) => one !== 'completed' && one !== 'failed')
  return open.map(([id, one]) => `the call ${id} is still ${one}`)
}

/** No call has run twice, and none that the model was told has run has not. */
function effectsWrong({ effects, server }: Scene): readonly string[] {
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n').filter(Boolean) : []
  const labels = lines.map((line) => (JSON.parse(line) as { readonly label: string }).label)
  const twice = labels.filter((label, at) => labels.indexOf(label) !== at)
  const told = (server.requests.at(-1)?.messages ?? []).flatMap(({ results }) => results.map(({ text }) => text))
  const never = told.filter((text) => /^r\d+-\d+$/u.test(text) && !labels.includes(text))
  return [
    ...twice.map((label) => `${label} ran twice`),
    ...never.map((label) => `${label} never ran, but its model was told so`),
  ]
}

/** What was sent once is sent again, unchanged, in front of what is new; and each call has one result. */
function contextsWrong(requests: readonly Asked[]): readonly string[] {
  const sent = requests.map(({ body }) => (body['messages'] as readonly unknown[]).map((one) => JSON.stringify(one)))
  const changed = sent.flatMap((messages, at) => {
    const before = sent[at - 1] ?? []
    return before.every((message, place) => messages[place] === message)
      ? []
      : [`request ${at} does not begin as ${at - 1} did`]
  })
  const [last] = requests.slice(-1)
  const calls = last?.messages.flatMap((message) => message.calls.map(({ id }) => id)) ?? []
  const results = last?.messages.flatMap((message) => message.results.map(({ id }) => id)) ?? []
  const wrong = calls.filter((id) => results.filter((one) => one === id).length !== 1)
  return [...changed, ...wrong.map((id) => `the call ${id} has not one result`)]
}
