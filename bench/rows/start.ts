/** From spawn to the answer of `initialize`, beside a bare Node script. */
import { fileURLToPath } from 'node:url'
import { Peer, parley } from '../peer.ts'
import { type Measuring, type Row, median, ms, times } from '../row.ts'
import { freshHome, writeScript } from '../scene.ts'

const bare = fileURLToPath(new URL('../peers/bare.mjs', import.meta.url))

export async function start({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const script = writeScript(directory, [{ chunk: 'hello' }])
  const floor: number[] = []
  const measured: number[] = []
  for (let repeat = 0; repeat < (quick ? 5 : 21); repeat += 1) {
    floor.push(await timeToAnswer(() => new Peer([bare])))
    measured.push(await timeToAnswer(() => parley(home, script)))
  }
  const ratio = median(measured) / median(floor)
  return [
    {
      what: 'acp --embedded: spawn → initialize answer',
      measured: `${ms(median(measured))} (${times(ratio)})`,
      goal: '≤ 2 × a bare script',
      floor: `${ms(median(floor))} bare script`,
      ok: ratio <= 2,
    },
  ]
}

async function timeToAnswer(open: () => Peer): Promise<number> {
  const began = performance.now()
  const peer = open()
  await peer.initialize()
  const took = performance.now() - began
  await peer.kill()
  return took
}
