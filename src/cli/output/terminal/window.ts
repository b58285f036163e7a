/** The title of the terminal's window: that of the session, until the chat is over. */
import type { WriteStream } from 'node:tty'
import type { Update } from '../../../client/incoming/updates.ts'
import { oneLine } from './text.ts'

/** Keeps the window's title; returns what brings it back. */
export function windowTitles(output: WriteStream): () => void {
  output.write('\u001b[22;0t')
  return () => void output.write('\u001b[23;0t')
}

export function nameWindow(output: WriteStream, update: Update): void {
  const { sessionUpdate, title } = update
  if (sessionUpdate !== 'session_info_update' || typeof title !== 'string') return
  output.write(`\u001b]0;${oneLine(title, 60)}\u0007`)
}
