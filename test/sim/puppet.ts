/** An agent whose every word is the test's: each turn plays the script that stands on the table when it begins. */
import type { Agent, StopReason, Turn } from '../../src/ports/agent.ts'
import { text } from './words.ts'

export type Script = (turn: Turn) => Promise<StopReason>

export class Puppet implements Agent {
  readonly kind = 'puppet'
  readonly accepts = { image: false, audio: false, embeddedContext: false }
  readonly commands = []
  /** The turns that it was given, in order. */
  readonly turns: Turn[] = []
  script: Script = async (turn) => {
    await turn.say(text('Hello!'))
    return 'end_turn'
  }

  run(turn: Turn): Promise<StopReason> {
    this.turns.push(turn)
    return this.script(turn)
  }
}

/** Something that the test decides when it happens. */
export function signal<T = void>() {
  let give: (value: T) => void = () => {}
  const given = new Promise<T>((resolve) => {
    give = resolve
  })
  return { given, give }
}

/** An agent that works until it is told to stop, and then says so. */
export const untilCancelled: Script = (turn) =>
  new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve('cancelled'), { once: true }))

/** An agent that does not listen. */
export const deaf: Script = () => new Promise(() => {})
