/** A server that lives for weeks: what clients have opened and left is let go of, and nothing grows with their number. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, pidIn, placeWith, serve, requirePid } from './server.ts'

cleanUpServers()

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** What there is one of, at least, for each client or session or turn. */
const KINDS = ['Connection', 'Attachment', 'Subscription', 'Session', 'SessionLog', 'RunningTurn']

type Counts = Readonly<Record<string, number>>

/** A server that writes down all that it has in memory when it is told to. */
async function watched(place: Place): Promise<() => Promise<Counts>> {
  const directory = mkdtempSync(join(tmpdir(), 'heap-'))
  directories.push(directory)
  await serve(place, { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}` })
  return async () => {
    const [name] = await written(directory, () => process.kill(requirePid(pidIn(place.home)), 'SIGUSR2'))
    const path = join(directory, name ?? '')
    const counts = countsIn(await whole(path))
    rmSync(path)
    return counts
  }
}

async function written(directory: string, order: () => void): Promise<readonly string[]> {
  order()
  for (;;) {
    const names = readdirSync(directory)
    if (names.length > 0) return names
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: readonly string[] } }
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}

/** It is written piece by piece. */
async function whole(path: string): Promise<Snapshot> {
  for (;;) {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Snapshot
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** How many objects of each kind there are; a snapshot holds only what is still reached. */
function countsIn({ snapshot, nodes, strings }: Snapshot): Counts {
  const width = snapshot.meta.node_fields.length
  // The type of a node comes first, and 3 is an object that a program has made; its name comes next.
  const names = KINDS.map((kind) => strings.indexOf(kind))
  if (names.includes(-1)) throw new Error(`the server has no ${KINDS[names.indexOf(-1)]}`)
  const counts = new Map(KINDS.map((kind) => [kind, 0]))
  for (let at = 0; at < nodes.length; at += width) {
    const kind = nodes[at] === 3 ? KINDS[names.indexOf(nodes[at + 1] ?? -1)] : undefined
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return Object.fromEntries(counts)
}

/** Of which kinds there are more, by more than the few that are just coming and going. */
function grown(before: Counts, after: Counts): readonly string[] {
  return KINDS.filter((kind) => (after[kind] ?? 0) > (before[kind] ?? 0) + 2)
}

async function work(place: Place, client: RawSocket): Promise<void> {
  const sessionId = await openSession(client, place)
  await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Hello?' }] })
  await client.request('session/close', { sessionId })
}

test('sessions that were closed and clients that have left leave nothing behind in the server', async () => {
  const place = await placeWith([{ chunk: 'Hello.' }])
  const counts = await watched(place)
  const staying = await RawSocket.open(place.socket, { notifications: ['server', 'turn', 'queue', 'presence'] })
  await work(place, staying)
  const before = await counts()
  for (const _one of Array.from({ length: 20 })) {
    await work(place, staying)
    const passing = await RawSocket.open(place.socket, { notifications: ['server', 'turn'] })
    await work(place, passing)
    passing.socket.destroy()
  }
  // What was the last one is still on its way out.
  let more = grown(before, await counts())
  for (let looks = 0; more.length > 0 && looks < 10; looks += 1) more = grown(before, await counts())
  expect(more).toEqual([])
  staying.socket.destroy()
}, 120_000)
