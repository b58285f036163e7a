/** Cuts a stream of bytes into lines of bounded length. */

export class LineTooLong extends Error {}

/** Collects bytes and gives back the complete lines; throws LineTooLong past the limit. */
export function lineCutter(limitBytes: number): (chunk: Uint8Array) => readonly string[] {
  let waiting: Uint8Array[] = []
  let size = 0

  function take(part: Uint8Array): void {
    size += part.length
    if (size > limitBytes) throw new LineTooLong(`a line is longer than ${limitBytes} bytes`)
    waiting.push(part)
  }

  function line(): string {
    const text = Buffer.concat(waiting).toString('utf8')
    waiting = []
    size = 0
    return text
  }

  return (chunk) => {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end))
      lines.push(line())
      from = end + 1
    }
    take(chunk.subarray(from))
    return lines
  }
}
