/** What must hold in every conversation, whatever it is about. Each law looks at a whole transcript and complains in sentences. */
import { isAbsolute } from 'node:path'
import type { Fields } from '../../e2e/message.ts'
import { callTypes, deviation, resultTypes } from '../../e2e/schema.ts'
import { strangeKeys } from './known-keys.ts'
import { type Transcript, answeredMethods, callsOf, fieldsOf, fromAgent, listOf, updatesOf } from './record.ts'
import { afterTheResponse, unfinishedCalls, unreleasedTerminals } from './turn-laws.ts'
import { gated } from './gate-laws.ts'

export interface Law {
  readonly row: string
  readonly name: string
  complaints(transcript: Transcript): readonly string[]
}

export const laws: readonly Law[] = [
  { row: 'A-TR-2', name: 'every line is one message', complaints: ({ impurities }) => impurities },
  { row: 'A-CV-5', name: 'every line is valid by the official schema', complaints: unlikeSchema },
  { row: 'A-CV-3', name: 'no key but the standard’s, outside `_meta`', complaints: strangers },
  { row: 'A-CV-4', name: 'keys are camelCase, kinds are snake_case', complaints: miscased },
  { row: 'A-CV-1', name: 'every path is absolute', complaints: relativePaths },
  { row: 'A-CV-2', name: 'lines are counted from 1', complaints: linesBelowOne },
  { row: 'A-JR-1', name: 'every answer has the id of a request that was open', complaints: strayAnswers },
  { row: 'A-TC-2', name: 'a tool call’s id is its own in the session', complaints: repeatedCalls },
  { row: 'A-TC-9', name: 'every tool call is finished when its turn is', complaints: unfinishedCalls },
  { row: 'A-PR-5', name: 'nothing of a turn comes after its answer', complaints: afterTheResponse },
  { row: 'A-TM-2', name: 'every terminal is released when its turn ends', complaints: unreleasedTerminals },
  { row: 'A-IN-5', name: 'nothing is asked of the client that it did not offer', complaints: gated },
  { row: 'A-PM-1', name: 'each option of a question has an id of its own', complaints: repeatedOptions },
  { row: 'A-MD-1', name: 'the current mode is one of those there are', complaints: unknownModes },
  { row: 'A-CF-1', name: 'every option has a value that it allows', complaints: impossibleOptions },
  { row: 'A-ER-2', name: 'an error says one line', complaints: longErrors },
]

export function complaintsOf(transcript: Transcript): ReadonlyMap<string, readonly string[]> {
  const found = laws.map((law) => [law.row, law.complaints(transcript)] as const)
  return new Map(found.filter(([, complaints]) => complaints.length > 0))
}

/** The complaint of one law, as a case's own check. */
export function law(row: string): (seen: unknown, transcript: Transcript) => string | undefined {
  const one = laws.find((known) => known.row === row)
  return (_seen, transcript) => (one === undefined ? `there is no law ${row}` : one.complaints(transcript)[0])
}

function unlikeSchema(transcript: Transcript): readonly string[] {
  const answered = answeredMethods(transcript)
  return transcript.entries.flatMap((entry) => {
    const { message } = entry
    if (entry.from === 'client' || isBeyond(message.method)) return []
    // An answer to what could not be read has no id that was asked.
    if (message.id === null && message.error !== undefined) return []
    const method = answered.get(entry)
    const asked = new Map(method === undefined ? [] : [[message.id, method]])
    const wrong = method === undefined && message.method === undefined ? undefined : deviation(message, asked)
    return wrong === undefined ? [] : [`${wrong}: ${short(message)}`]
  })
}

function strangers(transcript: Transcript): readonly string[] {
  const answered = answeredMethods(transcript)
  return transcript.entries.flatMap((entry) => {
    if (entry.from === 'client') return []
    const { method, params, result } = entry.message
    const type = method === undefined ? resultTypes[answered.get(entry) ?? ''] : callTypes[method]
    const keys = type === undefined ? [] : strangeKeys(type, method === undefined ? result : params)
    return keys.map((key) => `${type} has no ${key}`)
  })
}

function miscased(transcript: Transcript): readonly string[] {
  return updatesOf(transcript).flatMap((update) => {
    const keys = Object.keys(update).filter((key) => !/^_?[a-z][A-Za-z0-9]*$/u.test(key))
    const kinds = ['sessionUpdate', 'kind', 'status']
      .map((key) => update[key])
      .filter((kind) => typeof kind === 'string')
    const wrong = kinds.filter((kind) => !/^_?[a-z][a-z0-9_]*$/u.test(kind))
    return [...keys, ...wrong].map((word) => `${word} is not written as the standard writes such words`)
  })
}

const PATHS = new Set(['path', 'cwd'])

function relativePaths(transcript: Transcript): readonly string[] {
  return everyField(fromAgent(transcript)).flatMap(([key, value]) =>
    PATHS.has(key) && typeof value === 'string' && !isAbsolute(value) ? [`${key} is ${value}`] : [],
  )
}

function linesBelowOne(transcript: Transcript): readonly string[] {
  return everyField(fromAgent(transcript)).flatMap(([key, value]) =>
    key === 'line' && typeof value === 'number' && value < 1 ? [`line is ${value}`] : [],
  )
}

/** What tools were given and gave is theirs, as is all in `_meta`. */
const FOREIGN = new Set(['_meta', 'rawInput', 'rawOutput', 'data'])

function everyField(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(everyField)
  const own = Object.entries(value).filter(([key]) => !FOREIGN.has(key))
  return own.concat(own.flatMap(([, part]) => everyField(part) as [string, unknown][]))
}

function strayAnswers({ entries }: Transcript): readonly string[] {
  const open = new Set<string>()
  return entries.flatMap(({ from, message }) => {
    if (message.id === undefined) return []
    const key = JSON.stringify(message.id)
    if (from === 'client' && message.method !== undefined) open.add(key)
    if (from === 'client' || message.method !== undefined || message.id === null) return []
    return open.delete(key) ? [] : [`an answer with the id ${key}, which is of no open request`]
  })
}

function repeatedCalls(transcript: Transcript): readonly string[] {
  // A load tells the same calls again.
  const loads = transcript.entries.some(({ message }) => message.method === 'session/load')
  const seen = new Set<string>()
  return callsOf(transcript, 'session/update').flatMap(({ params }) => {
    const update = fieldsOf(params?.['update'])
    if (loads || update['sessionUpdate'] !== 'tool_call') return []
    const key = `${String(params?.['sessionId'])} ${String(update['toolCallId'])}`
    if (seen.has(key)) return [`a second tool call ${String(update['toolCallId'])}`]
    seen.add(key)
    return []
  })
}

function repeatedOptions(transcript: Transcript): readonly string[] {
  return callsOf(transcript, 'session/request_permission').flatMap(({ params }) => {
    const ids = listOf(params?.['options']).map(({ optionId }) => optionId)
    return new Set(ids).size === ids.length && ids.length > 0 ? [] : [`options with the ids ${ids.join(', ')}`]
  })
}

function unknownModes(transcript: Transcript): readonly string[] {
  const modes = new Map<unknown, readonly unknown[]>()
  return sessionStates(transcript).flatMap(({ sessionId, state }) => {
    const offered = fieldsOf(state['modes'])
    if (Array.isArray(offered['availableModes']))
      modes.set(
        sessionId,
        listOf(offered['availableModes']).map(({ id }) => id),
      )
    const current = state['sessionUpdate'] === 'current_mode_update' ? state['currentModeId'] : offered['currentModeId']
    const known = modes.get(sessionId)
    return current === undefined || known === undefined || known.includes(current)
      ? []
      : [`the mode ${JSON.stringify(current)} is none of ${known.join(', ')}`]
  })
}

function impossibleOptions(transcript: Transcript): readonly string[] {
  return sessionStates(transcript).flatMap(({ state }) =>
    listOf(state['configOptions']).flatMap((option) => {
      if (option['type'] === 'boolean')
        return typeof option['currentValue'] === 'boolean' ? [] : [`${String(option['id'])} is neither true nor false`]
      const values = listOf(option['options']).flatMap((one) => ('options' in one ? listOf(one['options']) : [one]))
      return values.some(({ value }) => value === option['currentValue']) || option['type'] !== 'select'
        ? []
        : [`${String(option['id'])} is ${String(option['currentValue'])}, which it does not allow`]
    }),
  )
}

/** What a session is said to be, by responses and by updates, in order. */
function sessionStates(transcript: Transcript): readonly { readonly sessionId: unknown; readonly state: Fields }[] {
  const sessionOf = new Map<string, unknown>()
  return transcript.entries.flatMap(({ from, message: { id, params, result } }) => {
    const key = JSON.stringify(id)
    if (from === 'client') {
      if (id !== undefined) sessionOf.set(key, params?.['sessionId'])
      return []
    }
    if (result !== undefined)
      return [{ sessionId: result?.['sessionId'] ?? sessionOf.get(key), state: fieldsOf(result) }]
    return [{ sessionId: params?.['sessionId'], state: fieldsOf(params?.['update']) }]
  })
}

function longErrors(transcript: Transcript): readonly string[] {
  return fromAgent(transcript).flatMap(({ error }) => {
    if (error === undefined || error === null) return []
    return typeof error.message === 'string' && /^[^\n\r]+$/u.test(error.message) ? [] : [`the error ${short(error)}`]
  })
}

/** Methods that begin so are left to whoever made them. */
function isBeyond(method: string | undefined): boolean {
  return method?.startsWith('_') === true
}

function short(value: unknown): string {
  return JSON.stringify(value).slice(0, 200)
}
