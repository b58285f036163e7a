/** Finds the session and the cursor of an update without parsing it: most of what passes is updates. */

/** As the server writes them; whatever looks otherwise is parsed. */
const BEGINNING = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"')
const SEQ = Buffer.from('"parley/seq":')
/** These may say that the session was closed, and are read. */
const INFO = Buffer.from('","update":{"sessionUpdate":"session_info_update"')

const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30

export interface UpdateCursor {
  readonly sessionId: string
  readonly seq: number
}

/** Undefined for anything that only parsing can tell. */
export function scanUpdateCursor(line: Buffer): UpdateCursor | undefined {
  if (!holds(line, BEGINNING, 0)) return undefined
  const end = line.indexOf(QUOTE, BEGINNING.length)
  // A quote within a text is written with a backslash, so that a bare one is part of a key; the last such key is the update's own.
  const at = line.lastIndexOf(SEQ)
  if (at < end || line[end - 1] === BACKSLASH || holds(line, INFO, end)) return undefined
  const seq = numberAt(line, at + SEQ.length)
  return Number.isNaN(seq) ? undefined : { sessionId: line.toString('utf8', BEGINNING.length, end), seq }
}

function holds(line: Buffer, bytes: Buffer, at: number): boolean {
  return line.length >= at + bytes.length && line.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0
}

function numberAt(line: Buffer, from: number): number {
  let number = Number.NaN
  for (let at = from; at < line.length; at += 1) {
    const digit = (line[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return number
    number = (Number.isNaN(number) ? 0 : number) * 10 + digit
  }
  return number
}
