/** A line that is shown while an operation takes long and removed when it is done; only at a terminal. */
import type { WriteStream } from 'node:tty'

export function progressLine(output: WriteStream) {
  let shown = false
  return {
    say(sentence: string): void {
      if (!output.isTTY) return
      shown = true
      output.write(`\r\u001b[K${sentence}`)
    },
    done(): void {
      if (shown) output.write('\r\u001b[K')
      shown = false
    },
  }
}
