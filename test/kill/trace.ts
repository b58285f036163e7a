/** Reads what `strace -f -y` wrote: every call with the moment it started and the moment it returned, as places in the trace. */

export interface SystemCall {
  readonly thread: string
  readonly name: string
  /** Everything between the parentheses, escaped as strace does. */
  readonly args: string
  /** The line on which it started; nothing later had happened before. */
  readonly started: number
  /** The line on which it returned; undefined if it never did. */
  readonly returned: number | undefined
  /** What it returned; undefined if it never did. */
  readonly result: number | undefined
}

interface Begun {
  readonly thread: string
  readonly name: string
  readonly args: string
  readonly started: number
}

const WHOLE = /^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(?: .*)?$/s
const UNFINISHED = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)(?: .*)?$/s

/**
 * In the order in which they started. strace writes a call on one line only if nothing else happened between its start
 * and its return, so the order of the lines is the order of the events.
 */
export function parseTrace(text: string): readonly SystemCall[] {
  const calls: SystemCall[] = []
  const open = new Map<string, { readonly begun: Begun; readonly at: number }>()
  for (const [line, content] of text.split('\n').entries()) {
    const begun = begunIn(content, line)
    if (begun !== undefined) {
      open.set(begun.thread, { begun, at: calls.length })
      calls.push({ ...begun, returned: undefined, result: undefined })
      continue
    }
    const resumed = RESUMED.exec(content)
    const waiting = open.get(resumed?.[1] ?? '')
    if (resumed !== null && waiting !== undefined && waiting.begun.name === resumed[2]) {
      const args = waiting.begun.args + (resumed[3] ?? '')
      calls[waiting.at] = { ...waiting.begun, args, ...ending(resumed[4], line) }
      open.delete(waiting.begun.thread)
      continue
    }
    const whole = wholeIn(content, line)
    if (whole !== undefined) calls.push(whole)
  }
  return calls
}

function begunIn(content: string, started: number): Begun | undefined {
  if (!content.endsWith('<unfinished ...>')) return undefined
  const [, thread, name, args] = UNFINISHED.exec(content) ?? []
  return thread === undefined || name === undefined || args === undefined ? undefined : { thread, name, args, started }
}

function wholeIn(content: string, line: number): SystemCall | undefined {
  const [, thread, name, args, result] = WHOLE.exec(content) ?? []
  if (thread === undefined || name === undefined || args === undefined) return undefined
  return { thread, name, args, started: line, ...ending(result, line) }
}

/** A call that was cut off by a signal returned `?`: it never returned. */
function ending(result: string | undefined, line: number): Pick<SystemCall, 'returned' | 'result'> {
  if (result === undefined || result === '?') return { returned: undefined, result: undefined }
  return { returned: line, result: Number(result) }
}
