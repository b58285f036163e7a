/** The builtin tools, and the memory that a session's registries share. */
import { onAbort } from '../../../async/abort.ts'
import { withTimeout } from '../../../async/with-timeout.ts'
import { fail, isParleyError, reasonOf, ParleyError } from '../../../errors/parley-error.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type {
  ToolCallContext,
  Tool,
  ToolCallOptions,
  ToolPreview,
  ToolResult,
  ToolList,
  ToolRegistry,
} from '../../../ports/tools.ts'
import { commandOutput } from '../run/command-output.ts'
import { readDocument } from '../documents/read-document.ts'
import { searchDocuments } from '../documents/search-documents.ts'
import { editFile } from '../edit/edit-file.ts'
import { fetchUrl } from '../fetch/fetch-url.ts'
import { findFiles } from '../search/find-files.ts'
import { listDirectory } from '../files/list-directory.ts'
import { listResources } from '../resources/list-resources.ts'
import { type SessionMemory, openSessionMemory } from '../memory.ts'
import { plan } from '../plan.ts'
import { readFile } from '../files/read-file.ts'
import { readResource } from '../resources/read-resource.ts'
import { readResult } from '../read-result.ts'
import { runCommand } from '../run/run-command.ts'
import { searchSessions } from '../search-sessions.ts'
import { searchText } from '../search/search-text.ts'
import { type ToolServices, type BuiltinTool, type ServersOfSession } from './tool.ts'
import { textBlock } from './result.ts'
import { writeFile } from '../files/write-file.ts'
import { InFlightCalls } from '../../mcp/host/in-flight-calls.ts'

/** In this order, always: a model that has seen the list keeps what it made of it. */
const TOOLS: readonly BuiltinTool[] = [
  readFile,
  writeFile,
  editFile,
  listDirectory,
  findFiles,
  searchText,
  runCommand,
  commandOutput,
  fetchUrl,
  plan,
  searchDocuments,
  readDocument,
  searchSessions,
  readResult,
  listResources,
  readResource,
]

/** The tools that read documents through their index. */
export const documentTools: readonly Tool[] = [searchDocuments.tool, readDocument.tool]

/** A cancelled call may take so long to end by itself. */
const CANCEL_GRACE_MS = 1_500

/** The tools as one registry has them. */
export interface SessionTools {
  readonly tools: readonly Tool[]
  has(name: string): boolean
  preview(
    name: string,
    args: unknown,
    caller: Pick<ToolCallContext, 'sessionId' | 'roots' | 'client'>,
  ): Promise<ToolPreview>
  /** Throws TOOL_ARGUMENTS, TOOL_TIMEOUT and TOOL_CANCELLED; every other failure is a result. */
  call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult>
  /** The registry is closed. The commands that a session runs end when its last registry is released. Idempotent. */
  release(): Promise<void>
}

export interface BuiltinTools {
  /** For one more registry of this session, which has these servers. */
  open(session: string, servers: ServersOfSession): SessionTools
}

export function openBuiltinTools(services: ToolServices): BuiltinTools {
  const byName = new Map(TOOLS.map((one) => [one.tool.name, one]))
  const tools = TOOLS.map(({ tool }) => tool)
  const sessions = openSessions(services)
  return {
    open(session, servers) {
      const { memory, leave } = sessions.join(session)
      const around = { memory, services, servers }
      return {
        tools,
        has: (name) => byName.has(name),
        async preview(name, args, caller) {
          const tool = byName.get(name)
          services.activity.began(`to look at a call of ${name} in session ${session}`)
          return tool === undefined ? { kind: 'other' } : tool.preview(args, { ...around, caller })
        },
        async call(name, args, options) {
          const tool = byName.get(name) ?? fail('TOOL_UNKNOWN', { tool: name })
          const { caller } = options
          if (caller === undefined) return fail('TOOL_NOT_RUN', { tool: name, reason: 'it works only within a turn' })
          services.activity.began(`to call ${name} in session ${session}`)
          return runWithTimeout(name, { ...options, services }, (signal) =>
            tool.run(args, { ...around, caller, signal }),
          )
        },
        release: leave,
      }
    },
  }
}

/** A session's memory lasts from the opening of its first registry to the close of its last. */
function openSessions({ documents }: Pick<ToolServices, 'documents'>) {
  const open = new Map<string, { readonly memory: SessionMemory; registries: number }>()
  return {
    join(session: string) {
      const joined = open.get(session) ?? { memory: openSessionMemory(), registries: 0 }
      open.set(session, joined)
      joined.registries += 1
      let isIn = true
      const leave = async () => {
        if (!isIn) return
        isIn = false
        joined.registries -= 1
        if (joined.registries > 0) return
        open.delete(session)
        await Promise.all([joined.memory.close(), documents.release(joined.memory)])
      }
      return { memory: joined.memory, leave }
    },
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

export function withBuiltinTools(inner: ToolRegistry, own: SessionTools): ToolRegistry {
  const calls = new InFlightCalls()
  const joined = joining(own)
  let isClosed = false
  const shown = (list: ToolList) => (isClosed ? list : joined(list))

  async function close(): Promise<void> {
    isClosed = true
    calls.end()
    await Promise.all([inner.close(), own.release()])
  }

  return {
    list: () => shown(inner.list()),
    ready: async (limitMs, signal) => shown(await inner.ready(limitMs, signal)),
    preview: (name, args, caller) =>
      own.has(name) ? own.preview(name, args, caller) : inner.preview(name, args, caller),
    call(name, args, options: ToolCallOptions) {
      if (!own.has(name)) return inner.call(name, args, options)
      return calls.run(name, options, (bounded) => own.call(name, args, bounded))
    },
    read: (server, uri, options) => inner.read(server, uri, options),
    prompt: (name, args, options) => inner.prompt(name, args, options),
    complete: (server, request, options) => inner.complete(server, request, options),
    onChange: (listener) => inner.onChange((list) => listener(shown(list))),
    async drain() {
      await Promise.all([calls.finish(), inner.drain()])
      await close()
    },
    close,
  }
}

/** Returns the same snapshot for the same list, so that a caller can compare snapshots to detect a change. */
function joining(own: SessionTools): (list: ToolList) => ToolList {
  const made = new WeakMap<ToolList, ToolList>()
  return (list) => {
    const known = made.get(list)
    if (known !== undefined) return known
    const joint = Object.freeze({ ...list, tools: Object.freeze([...own.tools, ...list.tools]) })
    made.set(list, joint)
    return joint
  }
}
