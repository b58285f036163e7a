/** Asks the running server one thing from outside, and leaves again: how it is, or to stop. Never starts one. */
import type { Socket } from 'node:net'
import { ParleyError, fail } from '../../errors/parley-error.ts'
import { readPidFile } from '../daemon/pid-file.ts'
import type { ImportAnswer, ImportOrder } from '../import/import.ts'
import { type Place, dial } from '../launch/launch.ts'
import type { LiveMcp } from './mcp-servers.ts'
import type { Status, StopAnswer, StopOrder } from './admin-methods.ts'

/** A server that does not answer for so long hangs. Milliseconds. */
const PATIENCE = 10_000
/** A long session takes its time to be read and stored. */
const IMPORT_PATIENCE = 600_000

/** Throws SERVER_ABSENT, SERVER_SILENT, SOCKET_UNUSABLE, PEER_REFUSED or CONNECTION_LOST. */
export async function askStatus(place: Place): Promise<Status> {
  return (await ask(place, '_parley/status', {})) as Status
}

/** The same. The answer comes before it has stopped. */
export async function askToStop(place: Place, order: StopOrder): Promise<StopAnswer> {
  return (await ask(place, '_parley/stop', order)) as StopAnswer
}

/** The same. */
export async function askServers(place: Asking): Promise<LiveMcp> {
  return (await ask(place, '_parley/servers', {})) as LiveMcp
}

/** The same, and what is wrong with the file. */
export async function askToImport(place: Asking, order: ImportOrder): Promise<ImportAnswer> {
  return (await ask({ ...place, patience: IMPORT_PATIENCE }, '_parley/import', order)) as ImportAnswer
}

/** Which server, and the token with which it lets one in if it asks for one. */
export interface Asking extends Place {
  readonly clientToken?: string | undefined
}

interface Asked extends Asking {
  readonly patience?: number
}

interface Reply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string; readonly data?: { readonly code?: string } }
}

async function ask(
  { home, socket, clientToken, patience = PATIENCE }: Asked,
  method: string,
  params: object,
): Promise<unknown> {
  const connection = await dial(socket)
  let silent = false
  connection.setTimeout(patience, () => {
    silent = true
    connection.destroy()
  })
  try {
    const _meta = { 'parley/token': clientToken }
    send(connection, { id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {}, _meta } })
    send(connection, { id: 1, method, params })
    const answer = await answerOn(connection, method)
    if (answer !== undefined) return answer.result
    return silent ? fail('SERVER_SILENT', { pid: readPidFile(home)?.pid ?? null }) : fail('CONNECTION_LOST', { method })
  } finally {
    connection.destroy()
  }
}

function send(connection: Socket, request: object): void {
  connection.write(`${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`)
}

/** Undefined when the connection ends without one. */
async function answerOn(connection: Socket, method: string): Promise<Reply | undefined> {
  for await (const line of linesOn(connection)) {
    const reply = JSON.parse(line) as Reply
    if (reply.error !== undefined) refused(method, reply.error)
    if (reply.id === 1) return reply
  }
  return undefined
}

async function* linesOn(connection: Socket): AsyncGenerator<string> {
  let text = ''
  try {
    for await (const piece of connection.setEncoding('utf8')) {
      const lines = (text + String(piece)).split('\n')
      text = lines.pop() ?? ''
      yield* lines
    }
  } catch {
    // That it breaks is its end too.
  }
}

function refused(method: string, { message, data }: NonNullable<Reply['error']>): never {
  const reason = message ?? 'The server gave no reason.'
  throw new ParleyError('PEER_REFUSED', { method, code: data?.code ?? 'unknown', reason })
}
