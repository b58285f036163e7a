/** The steps of a script by which its agent asks something of the client: its files, its terminals, its person. */
import type { FileRange, FileText, FormRequest, TerminalCommand, UrlRequest } from '../../../ports/client.ts'
import { type Fields, given, list, object, only, text, whole } from './fields.ts'

export type ClientRequest =
  | { readonly kind: 'readFile'; readonly file: FileRange }
  | { readonly kind: 'writeFile'; readonly file: FileText }
  | { readonly kind: 'terminal'; readonly command: TerminalCommand; readonly timeoutMs: number | undefined }
  | { readonly kind: 'form'; readonly form: FormRequest }
  | { readonly kind: 'url'; readonly page: UrlRequest; readonly completes: boolean }

/** It is shown to a person, who answers or does not. */
export function isForPerson({ kind }: ClientRequest): boolean {
  return kind === 'form' || kind === 'url'
}

/** By the key that makes the step. */
export const clientRequests: Readonly<Record<string, (value: unknown) => ClientRequest>> = {
  readFile: (value) => ({ kind: 'readFile', file: fileRange(given(object(value, 'readFile'))) }),
  writeFile: (value) => ({ kind: 'writeFile', file: fileText(given(object(value, 'writeFile'))) }),
  terminal: (value) => terminal(given(object(value, 'terminal'))),
  elicit: (value) => elicit(given(object(value, 'elicit'))),
}

function fileRange(fields: Fields): FileRange {
  only(fields, ['path', 'line', 'limit'], 'readFile')
  return { path: text(fields, 'path'), ...wholes(fields, ['line', 'limit']) }
}

function fileText(fields: Fields): FileText {
  only(fields, ['path', 'content'], 'writeFile')
  return { path: text(fields, 'path'), content: text(fields, 'content') }
}

function terminal(fields: Fields): ClientRequest {
  only(fields, ['command', 'args', 'env', 'cwd', 'outputByteLimit', 'timeoutMs'], 'terminal')
  const { args, env, cwd } = fields
  const command = {
    command: text(fields, 'command'),
    ...(args !== undefined && { args: list(args, 'args').map((arg) => text({ arg }, 'arg')) }),
    ...(env !== undefined && { env: variables(object(env, 'env')) }),
    ...(cwd !== undefined && { cwd: text(fields, 'cwd') }),
    ...wholes(fields, ['outputByteLimit']),
  }
  return { kind: 'terminal', command, timeoutMs: wholes(fields, ['timeoutMs']).timeoutMs }
}

function variables(env: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(env).map((name) => [name, text(env, name)]))
}

/** With a `url` the person is sent to a page, otherwise a form is filled in. */
function elicit(fields: Fields): ClientRequest {
  only(fields, ['message', 'schema', 'url', 'complete'], 'elicit')
  const { url, complete = false } = fields
  const message = text(fields, 'message')
  if (url === undefined) return { kind: 'form', form: { message, schema: object(fields['schema'], 'schema') } }
  if (typeof complete !== 'boolean') throw new Error('complete must be true or false')
  return { kind: 'url', page: { message, url: text(fields, 'url') }, completes: complete }
}

/** Those of the whole numbers that are there. */
function wholes<Key extends string>(fields: Fields, keys: readonly Key[]): Readonly<Partial<Record<Key, number>>> {
  const there = keys.filter((key) => fields[key] !== undefined)
  return Object.fromEntries(there.map((key) => [key, whole(fields, key)])) as Partial<Record<Key, number>>
}
