/** What a late reader is told of tool calls: changes that follow each other as one, and none that later ones undo. */
import type { Update } from '../e2e/message.ts'

/** An update of a tool call, as the journal has it. */
export interface Said {
  readonly seq: number
  readonly update: Update
}

export function callIn(update: Update): string | undefined {
  const id = update['toolCallId']
  return typeof id === 'string' && update.sessionUpdate.startsWith('tool_call') ? id : undefined
}

/** Later ones of the same call set all that it sets. */
export function isUndone({ update }: Said, later: readonly Said[]): boolean {
  return update.sessionUpdate === 'tool_call_update' && keysOf(update).every((key) => isSetLater(update, key, later))
}

/** `told` says what these say together, but for what later ones say anew. */
export function saysAll(told: Update, said: readonly Said[], later: readonly Said[]): boolean {
  const whole: Record<string, unknown> = Object.assign({}, ...said.map(({ update }) => update))
  const isNew = said.some(({ update }) => update.sessionUpdate === 'tool_call')
  if (told.sessionUpdate !== (isNew ? 'tool_call' : 'tool_call_update')) return false
  if (keysOf(told).some((key) => JSON.stringify(told[key]) !== JSON.stringify(whole[key]))) return false
  return Object.keys(whole).every((key) => key in told || isSetLater(told, key, later))
}

function isSetLater(update: Update, key: string, later: readonly Said[]): boolean {
  for (const one of later) {
    if (callIn(one.update) !== callIn(update)) continue
    if (one.update.sessionUpdate === 'tool_call') return false
    if (key in one.update) return true
  }
  return false
}

function keysOf(update: Update): readonly string[] {
  return Object.keys(update).filter((key) => key !== 'sessionUpdate')
}
