/** What clients answer when they are asked for something, read once; what cannot be read is never taken for a yes. */
import { fail } from '../../../../errors/parley-error.ts'
import type { RawFormAnswer, TerminalExit, TerminalOutput } from '../../../../ports/client.ts'

type Fields = Readonly<Record<string, unknown>>

export function fileText(result: unknown): string {
  const { content } = fieldsOf(result)
  return typeof content === 'string' ? content : unusable('fs/read_text_file', 'it has no content')
}

export function terminalId(result: unknown): string {
  const { terminalId: id } = fieldsOf(result)
  return typeof id === 'string' && id !== '' ? id : unusable('terminal/create', 'it has no terminalId')
}

export function terminalOutput(result: unknown): TerminalOutput {
  const { output, truncated, exitStatus } = fieldsOf(result)
  if (typeof output !== 'string') return unusable('terminal/output', 'it has no output')
  const exit = isFields(exitStatus) ? { exit: terminalExit(exitStatus) } : {}
  return { output, truncated: truncated === true, ...exit }
}

export function terminalExit(result: unknown): TerminalExit {
  const { exitCode, signal } = fieldsOf(result)
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    signal: typeof signal === 'string' ? signal : null,
  }
}

/** Any action but the three is one of the future, and no acceptance. */
export function formAnswer(result: unknown): RawFormAnswer {
  const { action, content } = fieldsOf(result)
  if (typeof action !== 'string') return unusable('elicitation/create', 'it has no action')
  if (action === 'accept') return { action, content: content ?? {} }
  return { action: action === 'decline' ? action : 'cancel', content: undefined }
}

function unusable(method: string, reason: string): never {
  return fail('CLIENT_ANSWER_INVALID', { method, reason })
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
