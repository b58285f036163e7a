/** Owner and agent in one process, served to one client: `parley acp --embedded`, and every command until a server runs. */
import { localUser } from '../../edge/method-access.ts'
import { PassThrough } from 'node:stream'
import type { Config } from '../../config/settings.ts'
import { serveConnection } from '../../edge/acp/connection.ts'
import { openStdio } from '../../edge/transport/stdio.ts'
import { openStreamTransport } from '../../edge/transport/streams.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import { type Owner, openOwner } from '../compose/compose.ts'
import { mcpMethod } from '../admin/mcp-servers.ts'
import type { OwnJournal } from '../compose/open-state.ts'
import { searchMethod } from '../compose/session-search.ts'
import { serverInfo } from '../server-info.ts'
import { lossOf } from './ownership-loss.ts'

/** How long a client that has left may still be answered. Milliseconds. */
const REPLY_TIMEOUT_MS = 2_000

/**
 * Serves the editor on stdin and stdout until it closes stdin. Rejects with STATE_IN_USE when another process owns the state.
 * `onLost` is called, with why if that is known, when the state is lost: then this process must end at once.
 */
export async function serveStdio(config: Config, onLost: (why?: string) => void, own?: OwnJournal): Promise<void> {
  const owner = await openWithAgent(config, own)
  void lossOf(owner.ownership).then(onLost)
  const wire = openStdio()
  try {
    await Promise.race([serve(owner, config, wire), untilUnusable(owner)])
  } finally {
    await owner.close()
    await wire.close()
  }
}

/** The client's end of a pipe to an owner in this process. */
export interface EmbeddedServer {
  readonly input: PassThrough
  readonly output: PassThrough
  /** Resolves when it has lost the state: nothing more can be stored here, and another process may own it now. */
  readonly lost: Promise<string | undefined>
  /** Ends the connection and the owner. */
  close(): Promise<void>
}

/** Rejects with STATE_IN_USE and its kin before anything is served. */
export async function openEmbedded(config: Config): Promise<EmbeddedServer> {
  const owner = await openWithAgent(config)
  try {
    await owner.sessions
  } catch (error) {
    await owner.close()
    throw error
  }
  const input = new PassThrough()
  const output = new PassThrough()
  const serving = serve(owner, config, openStreamTransport(input, output)).catch((error: unknown) =>
    owner.report(error),
  )
  return {
    input,
    output,
    lost: lossOf(owner.ownership),
    async close() {
      input.end()
      await serving
      await owner.close()
    },
  }
}

/** Throws SCRIPT_UNREADABLE or SCRIPT_INVALID: this owner is there for one agent, so a client need not find out. */
async function openWithAgent(config: Config, own?: OwnJournal): Promise<Owner> {
  // It lives and dies with the client that started it.
  const owner = await openOwner({ ...config, maxStallSeconds: 0 }, { own })
  try {
    await owner.agents.check(owner.agents.default, { cwd: process.cwd() })
    return owner
  } catch (error) {
    await owner.close()
    throw error
  }
}

function serve(
  owner: Owner,
  { agentChosen: chosen, serverToken: token, experimental }: Config,
  wire: Transport,
): Promise<void> {
  const { sessions, agents, search } = owner
  return serveConnection(wire, {
    sessions,
    principal: localUser('stdio'),
    info: serverInfo,
    agents,
    agent: { name: agents.default, chosen },
    methods: { ...searchMethod(search), ...mcpMethod(owner) },
    token,
    experimental,
    activity: owner.activity,
    mcpServersOf: (cwd) => owner.mcpServersOf(cwd),
    clock: owner.clock,
    report: (error) => owner.report(error),
    untilReplyTimeout: () => owner.after(REPLY_TIMEOUT_MS),
    initialized: () => owner.prepare(),
    gone: () => owner.close(),
  })
}

/** Settles only if the state cannot be opened. */
async function untilUnusable(owner: Owner): Promise<never> {
  await owner.sessions
  return new Promise<never>(() => undefined)
}
