/** Sends one request to the running server from outside, such as its status or to stop. Never starts a server. */
import type { Duplex } from 'node:stream'
import type { AccessMethod } from './access-methods.ts'
import type { AgentsOnWire } from '../agents/agent-list.ts'
import type { AgentImportAnswer, AgentImportParams } from '../agents/import-sessions.ts'
import type { ImportAnswer, ImportParams } from '../import/import-methods.ts'
import { type ServerPlace, dial } from '../launch/launch.ts'
import type { ListenAnswer, ListenOrder, Status, StopAnswer, StopOrder } from './admin-methods.ts'
import type { Searched } from '../compose/session-search.ts'
import type { MachineMethod } from './machine-methods.ts'
import type { LiveMcp } from './mcp-servers.ts'
import { type OneRequest, requestOver } from './one-request.ts'

/** A server that does not answer for so long hangs. */
const TIMEOUT_MS = 10_000
/** A long session takes its time to be read and stored. */
const IMPORT_TIMEOUT_MS = 600_000

/** Megabytes over a slow line. */
const PART_TIMEOUT_MS = 120_000

/** The server to ask, and the token that it may demand. */
export interface AdminTarget extends ServerPlace {
  /** Connects to a remote server; absent: to the one of the state directory. */
  readonly connect?: () => Promise<Duplex>
  readonly clientToken?: string | undefined
}

/** Of a method about the machine of the server. */
export interface MachineRequest {
  readonly method: MachineMethod
  readonly params: object
  readonly timeoutMs?: number
}

type AdminRequest = Pick<OneRequest, 'method' | 'params'> & { readonly timeoutMs?: number }

/** Throws SERVER_ABSENT, SERVER_SILENT, SOCKET_UNUSABLE, PEER_REFUSED or CONNECTION_LOST, as the others do. */
export async function askStatus(target: AdminTarget): Promise<Status> {
  return (await request(target, { method: '_parley/status', params: {} })) as Status
}

/** The answer comes before the server has stopped. */
export async function askToStop(target: AdminTarget, order: StopOrder): Promise<StopAnswer> {
  return (await request(target, { method: '_parley/stop', params: order })) as StopAnswer
}

/** The answer comes when the ports are open or closed. Throws also why one cannot be opened. */
export async function askToListen(target: AdminTarget, order: ListenOrder): Promise<ListenAnswer> {
  return (await request(target, { method: '_parley/listen', params: order })) as ListenAnswer
}

/** Searches the sessions of a remote server. Throws also what is wrong with the query. */
export async function askToSearch(target: AdminTarget, query: object): Promise<Searched> {
  return (await request(target, { method: '_parley/search', params: query })) as Searched
}

export async function askServers(target: AdminTarget): Promise<LiveMcp> {
  return (await request(target, { method: '_parley/servers', params: {} })) as LiveMcp
}

/** The agents that clients of that server may name. */
export async function askAgents(target: AdminTarget): Promise<AgentsOnWire> {
  return (await request(target, { method: '_parley/agents', params: {} })) as AgentsOnWire
}

/** Throws also what is wrong with the file. */
export async function askToImport(target: AdminTarget, order: ImportParams): Promise<ImportAnswer> {
  const importing = { method: '_parley/import', params: order, timeoutMs: IMPORT_TIMEOUT_MS }
  return (await request(target, importing)) as ImportAnswer
}

/** A part of the file of an exported session; without an id the first. Returns the id for the next ones. */
export async function askToUpload(target: AdminTarget, id: string | undefined, part: Buffer): Promise<string> {
  const params = { ...(id !== undefined && { upload: id }), part: part.toString('base64') }
  const uploading = { method: '_parley/import/upload', params, timeoutMs: PART_TIMEOUT_MS }
  return ((await request(target, uploading)) as { readonly upload: string }).upload
}

/** Calls a method about the server's machine. Throws also PARAMS_INVALID. */
export async function askMachine(target: AdminTarget, asked: MachineRequest): Promise<unknown> {
  return request(target, asked)
}

/** Throws also what keeps the agent from being started, or its sessions from being read. */
export async function askToImportFromAgent(target: AdminTarget, order: AgentImportParams): Promise<AgentImportAnswer> {
  const importing = { method: '_parley/agents/import', params: order, timeoutMs: IMPORT_TIMEOUT_MS }
  return (await request(target, importing)) as AgentImportAnswer
}

/** Calls a method about access to the server. Throws also the server's refusal. */
export async function askAccess(target: AdminTarget, method: AccessMethod, params: object): Promise<unknown> {
  return request(target, { method: `_parley/access/${method}`, params })
}

/** For a node of a cluster. Throws also why it does not. */
export async function askNode(target: AdminTarget, method: string, params: object): Promise<void> {
  await request(target, { method, params, timeoutMs: IMPORT_TIMEOUT_MS })
}

async function request({ home, socket, clientToken, connect }: AdminTarget, asked: AdminRequest): Promise<unknown> {
  const connection = await (connect ?? (() => dial(socket)))()
  return requestOver(connection, { timeoutMs: TIMEOUT_MS, ...asked, clientToken, home })
}
