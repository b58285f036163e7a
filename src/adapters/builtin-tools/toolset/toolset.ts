/** The builtin tools, and the memory that a session's registries share. */
import { onAbort } from '../../../async/abort.ts'
import { withTimeout } from '../../../async/with-timeout.ts'
import { fail, isParleyError, reasonOf, ParleyError } from '../../../errors/parley-error.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { Tool, ToolCallOptions, ToolPreview, ToolResult } from '../../../ports/tools.ts'
import { type SessionMemory, openSessionMemory } from '../memory.ts'
import { builtinTools } from './tool-table.ts'
import type { PreviewContext, ServersOfSession, ToolServices } from './tool.ts'
import { textBlock } from './result.ts'

/** A cancelled call may take so long to end by itself. */
const CANCEL_GRACE_MS = 1_500

/** The tools as one registry has them. */
export interface SessionTools {
  readonly tools: readonly Tool[]
  has(name: string): boolean
  preview(name: string, args: unknown, caller: PreviewContext['caller']): Promise<ToolPreview>
  /** Throws TOOL_ARGUMENTS, TOOL_TIMEOUT and TOOL_CANCELLED; every other failure is a result. */
  call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult>
  /** The registry is closed. The commands that a session runs end when its last registry is released. Idempotent. */
  release(): Promise<void>
}

export interface BuiltinTools {
  /** For one more registry of this session, which has these servers. */
  open(session: string, servers: ServersOfSession): SessionTools
}

/** The builtin tools of all sessions. What a session has beside them lasts as long as one of its registries is open. */
export class BuiltinToolsets implements BuiltinTools {
  readonly #services: ToolServices
  readonly #sessions = new Map<string, OpenSession>()

  constructor(services: ToolServices) {
    this.#services = services
  }

  open(session: string, servers: ServersOfSession): SessionTools {
    const joined = this.#sessions.get(session) ?? { memory: openSessionMemory(), registries: 0 }
    this.#sessions.set(session, joined)
    joined.registries += 1
    const around = { memory: joined.memory, services: this.#services, servers }
    return new Toolset(session, around, () => this.#leave(session, joined))
  }

  async #leave(session: string, joined: OpenSession): Promise<void> {
    joined.registries -= 1
    if (joined.registries > 0) return
    this.#sessions.delete(session)
    await Promise.all([joined.memory.close(), this.#services.documents.release(joined.memory)])
  }
}

interface OpenSession {
  readonly memory: SessionMemory
  registries: number
}

type Around = Omit<PreviewContext, 'caller'>

const BY_NAME = new Map(builtinTools.map((one) => [one.tool.name, one]))
const TOOLS = builtinTools.map(({ tool }) => tool)

class Toolset implements SessionTools {
  readonly tools = TOOLS
  readonly #session: string
  readonly #around: Around
  readonly #leave: () => Promise<void>
  #released: Promise<void> | undefined

  constructor(session: string, around: Around, leave: () => Promise<void>) {
    this.#session = session
    this.#around = around
    this.#leave = leave
  }

  has(name: string): boolean {
    return BY_NAME.has(name)
  }

  async preview(name: string, args: unknown, caller: PreviewContext['caller']): Promise<ToolPreview> {
    const tool = BY_NAME.get(name)
    this.#around.services.activity.began(`to look at a call of ${name} in session ${this.#session}`)
    return tool === undefined ? { kind: 'other' } : tool.preview(args, { ...this.#around, caller })
  }

  async call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult> {
    const tool = BY_NAME.get(name) ?? fail('TOOL_UNKNOWN', { tool: name })
    const { caller } = options
    if (caller === undefined) return fail('TOOL_NOT_RUN', { tool: name, reason: 'it works only within a turn' })
    const { services } = this.#around
    services.activity.began(`to call ${name} in session ${this.#session}`)
    return runWithTimeout(name, { ...options, services }, (signal) =>
      tool.run(args, { ...this.#around, caller, signal }),
    )
  }

  release(): Promise<void> {
    this.#released ??= this.#leave()
    return this.#released
  }
}

type Bounds = Pick<ToolCallOptions, 'signal' | 'timeoutMs'> & { readonly services: ToolServices }

/** Ends soon after the call is cancelled or its time is over, even if the tool does not stop. */
function runWithTimeout(
  name: string,
  { signal, timeoutMs, services: { clock } }: Bounds,
  run: (signal: Signal) => Promise<ToolResult>,
): Promise<ToolResult> {
  async function runUntilAborted(own: Signal): Promise<ToolResult> {
    const aborted = new Promise<void>((resolve) => onAbort(own, resolve))
    const patienceOver = aborted.then(() => clock.sleep(CANCEL_GRACE_MS))
    const ended = await Promise.race([run(own).catch((error: unknown) => failure(error)), patienceOver])
    return ended ?? fail('TOOL_CANCELLED', { tool: name })
  }

  const timedOut = (): Error => new ParleyError('TOOL_TIMEOUT', { tool: name, ms: timeoutMs ?? 0 })
  return withTimeout(runUntilAborted, { clock, ms: timeoutMs, signals: [signal], timedOut })
}

/** Sentences for system errors, without the path: it may be an internal one. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'the system does not permit it',
  EPERM: 'the system does not permit it',
  EROFS: 'that disk can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EMFILE: 'too many files are open; try again',
  ENOENT: 'it has gone meanwhile',
  ENOTDIR: 'it changes while it is looked at; try again',
  ELOOP: 'it changes while it is looked at; try again',
  EEXIST: 'it changes while it is looked at; try again',
  EISDIR: 'it changes while it is looked at; try again',
}

function systemReason(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? (SYSTEM_REASONS[code] ?? (code.startsWith('E') ? code : undefined)) : undefined
}

/** A sentence that the model can act on. */
function failure(error: unknown): ToolResult {
  if (isParleyError(error, 'TOOL_ARGUMENTS')) throw error
  const why = isParleyError(error) ? error.message : `It failed: ${systemReason(error) ?? reasonOf(error)}.`
  return { content: [textBlock(why)], isError: true }
}
