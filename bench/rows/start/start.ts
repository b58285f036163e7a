/** From spawn to the answer of `initialize`, in one process and over the relay, beside a bare Node script. */
import { fileURLToPath } from 'node:url'
import { Peer, binary, parley, settings } from '../../peer.ts'
import { type Measuring, type Row, median, ms, times } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'

const bare = fileURLToPath(new URL('../../peers/bare.mjs', import.meta.url))

export async function start({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const served = freshHome(directory)
  const script = writeScript(directory, [{ chunk: 'hello' }])
  const server = await Server.start(served, script)
  const floor: number[] = []
  const embedded: number[] = []
  const relayed: number[] = []
  for (let repeat = 0; repeat < (quick ? 5 : 21); repeat += 1) {
    floor.push(await timeToAnswer(() => new Peer([bare])))
    embedded.push(await timeToAnswer(() => parley(home, script)))
    relayed.push(await timeToAnswer(() => new Peer([binary, 'acp'], settings(served))))
  }
  await server.kill()
  return [
    rowOf('acp --embedded', { measured: embedded, floor, goal: 2 }),
    rowOf('acp, server running', { measured: relayed, floor, goal: 1.3 }),
  ]
}

interface Starts {
  readonly measured: readonly number[]
  readonly floor: readonly number[]
  readonly goal: number
}

function rowOf(command: string, { measured, floor, goal }: Starts): Row {
  const ratio = median(measured) / median(floor)
  return {
    what: `${command}: spawn → initialize answer`,
    measured: `${ms(median(measured))} (${times(ratio)})`,
    goal: `≤ ${goal} × a bare script`,
    floor: `${ms(median(floor))} bare script`,
    ok: ratio <= goal,
  }
}

async function timeToAnswer(open: () => Peer): Promise<number> {
  const began = performance.now()
  const peer = open()
  await peer.initialize()
  const took = performance.now() - began
  await peer.kill()
  return took
}
