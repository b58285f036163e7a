/** The methods that an agent can call at the client: files, terminals, pages and forms, as far as the program around it provides them. */
import { CodedError } from '../../errors/coded-error.ts'
import { type ErrorToSend, fieldsOf, type Fields } from '../../rpc/json-rpc.ts'
import { ClientError, fail } from '../client-error.ts'
import type { Reply } from '../connection/json-rpc-peer.ts'

/** Where a session may work. */
export interface SessionRoots {
  /** `[cwd, …additionalDirectories]`. */
  readonly roots: readonly string[]
}

export interface ReadRequest extends SessionRoots {
  readonly path: string
  /** The first line to read, counted from 1; from the start if absent. */
  readonly line: number | undefined
  /** The number of lines; all if absent. */
  readonly limit: number | undefined
}

export interface WriteRequest extends SessionRoots {
  readonly path: string
  readonly content: string
}

/** Files inside the root set. Throws PATH_OUTSIDE_ROOTS, PATH_NOT_ABSOLUTE, FILE_MISSING or FILE_UNUSABLE. */
export interface ClientFiles {
  read(request: ReadRequest): Promise<string>
  /** Creates the file when it is missing. */
  write(request: WriteRequest): Promise<void>
}

export interface TerminalRequest extends SessionRoots {
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  /** The session's directory if absent. */
  readonly cwd: string | undefined
  readonly outputByteLimit: number | undefined
}

export interface TerminalExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface TerminalOutput {
  /** Its end only, if there was more than the limit. */
  readonly output: string
  readonly truncated: boolean
  readonly exitStatus?: TerminalExit
}

/** Throws TERMINAL_UNKNOWN, but for `create`: PATH_OUTSIDE_ROOTS or PROCESS_SPAWN. */
export interface ClientTerminals {
  /** Returns its id and does not wait for the command to end. */
  create(request: TerminalRequest): Promise<string>
  output(id: string): Promise<TerminalOutput>
  exited(id: string): Promise<TerminalExit>
  /** The id stays valid. */
  kill(id: string): Promise<void>
  /** Kills it too; the id is no longer valid. */
  release(id: string): Promise<void>
}

export interface PageRequest {
  readonly sessionId: string
  readonly message: string
  /** As it was sent: check it before you open it. */
  readonly url: string
}

/** Pages that the user is asked to visit. */
export interface ClientPages {
  /** Nothing is loaded before the user agrees. `withdrawn` aborts when the agent no longer waits. */
  visit(page: PageRequest, withdrawn: AbortSignal): Promise<'accept' | 'decline' | 'cancel'>
}

export interface FormRequest {
  readonly sessionId: string
  /** Begins with the name of the MCP server that asks, where the agent is Parley. */
  readonly message: string
  /** JSON Schema of a flat object, as it was sent. */
  readonly schema: Readonly<Record<string, unknown>>
}

export type FormAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' }

/** Forms that the user is asked to fill in. */
export interface ClientForms {
  /** `withdrawn` aborts when the agent no longer waits; its reason is a `Withdrawal`. Throws PARAMS_INVALID for a form that cannot be shown. */
  ask(form: FormRequest, withdrawn: AbortSignal): Promise<FormAnswer>
}

/** Provided by the program around the client; only these are declared to the agent. */
export interface ClientServices {
  readonly files?: ClientFiles
  readonly terminals?: ClientTerminals
  readonly pages?: ClientPages | undefined
  readonly forms?: ClientForms | undefined
}

type RootsOf = (sessionId: string) => readonly string[] | undefined
type Service = (params: Fields, roots: readonly string[], withdrawn: AbortSignal) => Promise<unknown>

/** The capabilities that `initialize` declares. */
export function capabilitiesFor({ files, terminals, pages, forms }: ClientServices): Fields {
  const elicitation = { ...(forms && { form: {} }), ...(pages && { url: {} }) }
  return {
    ...(files === undefined ? {} : { fs: { readTextFile: true, writeTextFile: true } }),
    ...(terminals === undefined ? {} : { terminal: true }),
    ...(Object.keys(elicitation).length === 0 ? {} : { elicitation }),
  }
}

export interface AgentRequest {
  readonly method: string
  readonly params: unknown
  /** Aborts when the agent no longer waits for the answer. */
  readonly withdrawn: AbortSignal
}

/** The answer to a request of the agent; undefined for a method that is not provided. */
export function serve(services: ClientServices, rootsOf: RootsOf, request: AgentRequest): Promise<Reply> | undefined {
  const service = serviceOf(services, request.method)
  return service === undefined ? undefined : answered(service, rootsOf, request)
}

async function answered(
  service: Service,
  rootsOf: RootsOf,
  { method, params, withdrawn }: AgentRequest,
): Promise<Reply> {
  try {
    const fields = fieldsOf(params)
    const session = requireText(method, fields, 'sessionId')
    const roots = rootsOf(session) ?? fail('SESSION_NOT_FOUND', { session })
    return { result: await service(fields, roots, withdrawn) }
  } catch (error) {
    return { error: errorOf(error) }
  }
}

function serviceOf({ files, terminals, pages, forms }: ClientServices, method: string): Service | undefined {
  switch (method) {
    case 'fs/read_text_file':
    case 'fs/write_text_file':
      return files === undefined ? undefined : fileService(files, method)
    case 'elicitation/create':
      return askingService({ pages, forms }, method)
    default:
      return terminals === undefined ? undefined : terminalService(terminals, method)
  }
}

/** Pages and forms; a kind that was not offered is refused. */
function askingService({ pages, forms }: Pick<ClientServices, 'pages' | 'forms'>, method: string): Service {
  return async (params, _roots, withdrawn) => {
    const { mode, requestedSchema } = params
    const sessionId = requireText(method, params, 'sessionId')
    const message = typeof params['message'] === 'string' ? params['message'] : ''
    if (mode === 'url' && pages !== undefined)
      return { action: await pages.visit({ sessionId, message, url: requireText(method, params, 'url') }, withdrawn) }
    if (mode === 'form' && forms !== undefined)
      return forms.ask({ sessionId, message, schema: fieldsOf(requestedSchema) }, withdrawn)
    const what = mode === 'url' ? 'opens no link' : mode === 'form' ? 'offers no form' : 'knows no such mode'
    return fail('PARAMS_INVALID', { method, reason: `this client ${what}` })
  }
}

function fileService(files: ClientFiles, method: string): Service {
  if (method === 'fs/write_text_file')
    return async (params, roots) => {
      await files.write({
        roots,
        path: requireText(method, params, 'path'),
        content: requireText(method, params, 'content'),
      })
      return {}
    }
  return async (params, roots) => ({
    content: await files.read({
      roots,
      path: requireText(method, params, 'path'),
      line: whole(method, params, 'line'),
      limit: whole(method, params, 'limit'),
    }),
  })
}

function terminalService(terminals: ClientTerminals, method: string): Service | undefined {
  const id = (params: Fields): string => requireText(method, params, 'terminalId')
  switch (method) {
    case 'terminal/create':
      return async (params, roots) => ({ terminalId: await terminals.create(terminalIn(method, params, roots)) })
    case 'terminal/output':
      return (params) => terminals.output(id(params))
    case 'terminal/wait_for_exit':
      return (params) => terminals.exited(id(params))
    case 'terminal/kill':
      return async (params) => done(terminals.kill(id(params)))
    case 'terminal/release':
      return async (params) => done(terminals.release(id(params)))
    default:
      return undefined
  }
}

async function done(work: Promise<void>): Promise<object> {
  await work
  return {}
}

function terminalIn(method: string, params: Fields, roots: readonly string[]): TerminalRequest {
  const args = Array.isArray(params['args']) ? params['args'].map(String) : []
  const env = Array.isArray(params['env']) ? (params['env'] as TerminalRequest['env']) : []
  const { cwd } = params
  return {
    roots,
    command: requireText(method, params, 'command'),
    args,
    env,
    cwd: cwd === undefined || cwd === null ? undefined : requireText(method, params, 'cwd'),
    outputByteLimit: whole(method, params, 'outputByteLimit'),
  }
}

function requireText(method: string, params: Fields, key: string): string {
  const value = params[key]
  return typeof value === 'string' ? value : fail('PARAMS_INVALID', { method, reason: `${key} must be a text` })
}

function whole(method: string, params: Fields, key: string): number | undefined {
  const value = params[key] ?? undefined
  if (value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= 0)) return value
  return fail('PARAMS_INVALID', { method, reason: `${key} must be a whole number from 0` })
}

/** The agent gets a code and a sentence, and nothing of our insides. */
function errorOf(error: unknown): ErrorToSend {
  const known = error instanceof CodedError ? error : new ClientError('INTERNAL_ERROR', {}, error)
  const { code, rpc, message, retryable } = known
  return { code, rpc, message, retryable, details: {} }
}
