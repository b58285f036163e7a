/** Reads keys from a terminal, without echo, for as long as a part of the program listens. */
import { StringDecoder } from 'node:string_decoder'
import type { ReadStream } from 'node:tty'
import { type Key, KeyDecoder } from './key-decoder.ts'
import { after } from './pace.ts'

export type { Key } from './key-decoder.ts'

export function isCtrlC({ ctrl, name }: Key): boolean {
  return ctrl && name === 'c'
}

/** Milliseconds after which an Esc is no beginning of a sequence: over a slow line those come in pieces. */
const ESCAPE_ALONE = 60

/** Returns how to stop. */
export function listenToKeys(input: ReadStream, pressed: (key: Key) => void): () => void {
  const bytes = new StringDecoder('utf8')
  const decoder = new KeyDecoder()
  let stopWaiting: (() => void) | undefined
  const press = (keys: readonly Key[]): void => {
    for (const key of keys) pressed(key)
  }
  const heard = (chunk: Buffer | string): void => {
    stopWaiting?.()
    press(decoder.push(typeof chunk === 'string' ? chunk : bytes.write(chunk)))
    stopWaiting = decoder.isWaiting ? after(ESCAPE_ALONE, () => press(decoder.flush())) : undefined
  }
  input.setRawMode(true)
  input.on('data', heard)
  input.resume()
  return () => {
    stopWaiting?.()
    input.off('data', heard)
    input.setRawMode(false)
    input.pause()
  }
}
