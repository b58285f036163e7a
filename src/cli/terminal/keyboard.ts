/** Single keys from a terminal, without echo, for as long as somebody listens. */
import { emitKeypressEvents } from 'node:readline'
import type { ReadStream } from 'node:tty'

export interface Key {
  /** What was typed; empty for keys that type nothing. */
  readonly text: string
  readonly name: string
  readonly ctrl: boolean
}

export function isCtrlC({ ctrl, name }: Key): boolean {
  return ctrl && name === 'c'
}

interface Pressed {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
}

/** Returns how to stop. */
export function listenToKeys(input: ReadStream, pressed: (key: Key) => void): () => void {
  const press = (typed: string | undefined, { name, ctrl, meta }: Pressed): void => {
    const types = ctrl !== true && meta !== true && typed !== undefined && /^[^\p{Cc}]+$/u.test(typed)
    pressed({ text: types ? typed : '', name: name ?? '', ctrl: ctrl === true })
  }
  emitKeypressEvents(input)
  input.setRawMode(true)
  input.on('keypress', press)
  input.resume()
  return () => {
    input.off('keypress', press)
    input.setRawMode(false)
    input.pause()
  }
}
