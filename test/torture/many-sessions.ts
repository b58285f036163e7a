/** Many sessions with three stdio servers each on the real server, then the death of everything: what is left, and what it cost. */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { RawSocket } from '../e2e/raw-socket.ts'
import { type Place, deaf, openSession, startInBackground } from '../e2e/server.ts'
import { carrying, runs, until } from '../fixtures/process/running.ts'

const PROGRAM = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
const SCRIPTS = ['honest', 'has a grandchild that ignores every signal', 'stays at the end of its input']
/** Each has three processes and more: a small machine holds so many at once. */
const AT_ONCE = 5
const PATIENCE = 60_000

export interface Figures {
  readonly sessions: number
  /** Processes of the state directory, counted from /proc: with sessions open at most, and when all were closed. */
  readonly most: number
  readonly afterClosing: number
  /** Resident memory of the server in MiB after each tenth of the sessions. */
  readonly memory: readonly number[]
  /** After the server and its guard were killed at once, and after the next start. */
  readonly afterKilling: number
  readonly afterRestart: number
}

/** The caller ends the server that is left. */
export async function manySessions(place: Place, sessions: number): Promise<Figures> {
  const pid = await startInBackground(place)
  const marker = `PARLEY_CHILD=${createHash('sha256').update(place.home).digest('hex').slice(0, 12)}`
  const children = () => carrying(marker).filter((one) => isServer(one))
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const memory: number[] = []
  let most = 0
  for (let done = 0; done < sessions; done += AT_ONCE) {
    const ids = await openReady(client, place)
    // They are started in turns, behind the answers.
    await until(() => children().length >= AT_ONCE * SCRIPTS.length, PATIENCE)
    most = Math.max(most, children().length)
    await Promise.all(ids.map((sessionId) => client.request('session/close', { sessionId })))
    if (done % Math.max(AT_ONCE, Math.floor(sessions / 10)) < AT_ONCE) memory.push(residentMiB(pid))
  }
  await until(() => children().length === 0, PATIENCE)
  const afterClosing = children().length
  await openReady(client, place)
  // Whoever has not begun yet simply ends with its input; each session has three servers and a grandchild.
  await until(() => children().length >= AT_ONCE * 4, PATIENCE)
  const doomed = [pid, ...guardsOf(marker)]
  // Stopped, the server cannot notice that its guard has gone; and the guard goes before it could do its work.
  process.kill(pid, 'SIGSTOP')
  for (const one of doomed.toReversed()) process.kill(one, 'SIGKILL')
  await until(() => !doomed.some(runs), PATIENCE)
  await deaf(place.socket)
  const afterKilling = children().length
  await startInBackground(place)
  await (await RawSocket.open(place.socket)).request('session/list', {})
  // What was killed takes a moment to be gone on a busy machine.
  await until(() => children().length === 0, PATIENCE).catch(() => undefined)
  const afterRestart = children().length
  return { sessions, most, afterClosing, memory, afterKilling, afterRestart }
}

async function openReady(client: RawSocket, place: Place): Promise<readonly string[]> {
  const servers = SCRIPTS.map((script, index) => ({
    name: `s${index}`,
    command: process.execPath,
    args: [PROGRAM, script, `${place.home}/received.jsonl`],
    env: [],
  }))
  const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => openSession(client, place, servers)))
  const prompt = [{ type: 'text', text: 'go' }]
  await Promise.all(ids.map((sessionId) => client.request('session/prompt', { sessionId, prompt })))
  return ids
}

/** A guard does not carry the marker, or it would end itself first: it is told it. */
function guardsOf(marker: string): readonly number[] {
  const all = readdirSync('/proc').map(Number)
  return all.filter((pid) => pid > 0 && ['parley-guard', marker].every((word) => commandOf(pid).includes(word)))
}

/** An MCP server or a child of one; the other process of a state directory is the guard. */
function isServer(pid: number): boolean {
  return commandOf(pid).includes('torture-server') || !/^(?:\/bin\/)?sh\0/u.test(commandOf(pid))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has gone meanwhile.
    return ''
  }
}

function residentMiB(pid: number): number {
  const [, kib = '0'] = /VmRSS:\s*(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}
