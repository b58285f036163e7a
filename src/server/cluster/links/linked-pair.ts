/** Two ends of a connection inside this process: when one is closed, so is the other. */
import { type Duplex, duplexPair } from 'node:stream'

export function linkedPair(): readonly [front: Duplex, back: Duplex] {
  const [front, back] = duplexPair()
  front.on('error', () => undefined)
  // One that is cut says nothing to its other side in Node 20.
  for (const [side, other] of [
    [front, back],
    [back, front],
  ] as const)
    side.once('close', () => void (side.writableFinished || other.destroy()))
  return [front, back]
}
