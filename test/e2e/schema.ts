/** Holds every line to the official JSON schema of ACP v1, and to nothing more than it: no key of our own but `_meta`. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import type { Message } from './message.ts'
import type { RawConnection } from '../wire/raw-connection.ts'

export type Schema = Readonly<Record<string, unknown>>

const schema = schemaNamed('schema.json')
/** Only for methods that the standard has not settled yet. */
const unstable = schemaNamed('schema.unstable.json')
const ajv = new Ajv2020.default({ strict: false, validateFormats: false, allErrors: false, discriminator: false })
ajv.addSchema(schema, 'acp')
ajv.addSchema(unstable, 'unstable')
const validators = new Map<string, ValidateFunction>()

export const definitions = definitionsIn(schema)

/** The types that the agent sends, by the method that they belong to: its results, and the params of its calls. */
export const resultTypes = typesIn(definitions, 'agent', (name) => name.endsWith('Response'))
export const callTypes = typesIn(definitions, 'client', (name) => !name.endsWith('Response'))
const UNSETTLED_RESULTS = typesIn(definitionsIn(unstable), 'agent', (name) => name.endsWith('Response'))
const FROM_AGENT: Readonly<Record<string, string>> = { ...callTypes, '$/cancel_request': 'CancelRequestNotification' }

function definitionsIn(of: Schema): Readonly<Record<string, Schema>> {
  return of['$defs'] as Readonly<Record<string, Schema>>
}

function typesIn(
  all: Readonly<Record<string, Schema>>,
  side: string,
  isOurs: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const found = Object.entries(all).flatMap(([name, { 'x-side': of, 'x-method': method }]) =>
    of === side && isOurs(name) && typeof method === 'string' ? [[method, name] as const] : [],
  )
  return Object.fromEntries(found)
}

/** One sentence per line that is not as the schema has it. */
export function deviations({
  received,
  asked,
  impurities = [],
}: RawConnection & { readonly impurities?: readonly string[] }): readonly string[] {
  const found = received.flatMap((message) => {
    const wrong = deviation(message, asked)
    return wrong === undefined ? [] : [`${wrong}: ${JSON.stringify(message).slice(0, 300)}`]
  })
  return [...impurities.map((line) => `not a message: ${line.slice(0, 300)}`), ...found]
}

/** What is wrong with one message of the agent, if anything; `asked` names the method of each request by its id. */
export function deviation(message: Message, asked: RawConnection['asked']): string | undefined {
  if (message.jsonrpc !== '2.0') return 'no jsonrpc 2.0'
  if (message.method !== undefined) return wrongInCall(message, message.method)
  if (message.id === undefined) return 'neither a request nor a response'
  if (message.error !== undefined) return wrongInError(message)
  const method = asked.get(message.id)
  // ACP leaves methods that begin so to whoever made them.
  if (method?.startsWith('_') === true)
    return typeof message.result === 'object' ? undefined : 'a result that is no object'
  const type = resultTypes[method ?? '']
  if (type !== undefined) return against(type, message.result)
  const unsettled = UNSETTLED_RESULTS[method ?? '']
  return unsettled === undefined
    ? `a result of ${method ?? 'nothing that was asked'}`
    : against(unsettled, message.result, 'unstable')
}

function wrongInCall({ params }: Message, method: string): string | undefined {
  const type = FROM_AGENT[method]
  if (type === undefined) return `the method ${method}`
  return (
    against(type, params) ?? (method === 'session/update' ? against('SessionUpdate', params?.['update']) : undefined)
  )
}

function wrongInError(message: Message): string | undefined {
  if (message.result !== undefined) return 'a result and an error'
  if (message.error?.message.includes('\n') !== false || message.error.message === '')
    return 'an error message of not one line'
  return against('Error', message.error)
}

function against(type: string, value: unknown, schema: 'acp' | 'unstable' = 'acp'): string | undefined {
  const $ref = `${schema}#/$defs/${type}`
  const validate = validators.get($ref) ?? ajv.compile({ $ref, unevaluatedProperties: false })
  validators.set($ref, validate)
  return validate(value) ? undefined : `${type} ${ajv.errorsText(validate.errors)}`
}

function schemaNamed(file: string): Schema {
  const path = createRequire(import.meta.url).resolve(`@agentclientprotocol/sdk/schema/v1/${file}`)
  return JSON.parse(readFileSync(path, 'utf8')) as Schema
}
