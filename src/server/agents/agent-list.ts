/** `_parley/agents`: the agents that a client may name for a new session, for as long as a client wants to know of changes. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { userFile } from '../../config/places.ts'
import type { Config } from '../../config/settings.ts'
import type { Clock, Timer } from '../../ports/clock.ts'
import { type InstallProgress, ProgressFile, openCatalogue } from '../compose/agent-catalogue.ts'
import { type ListedAgent, listAgents } from './list-agents.ts'

/** As clients get it. Neither command lines nor files: a client need not know this machine. */
export interface AgentOnWire extends Omit<ListedAgent, 'command' | 'file'> {
  /** It is being installed, or another version of it. */
  readonly installing?: InstallProgress
}

export interface AgentsOnWire {
  /** The agent of a session whose client names none. */
  readonly default: string
  /** All that can be named besides the builtin ones; those that are not on this machine last. */
  readonly agents: readonly AgentOnWire[]
}

type Listener = (list: AgentsOnWire) => void

const REFUSED = 'It cannot be started as the settings of the server are. There, parley agents ls says why.'

/** Other processes install and remove agents, and people edit files: nothing says so, so it is looked at. */
const POLL_MS = 1_000

interface AgentListParts {
  readonly config: Config
  readonly default: string
  readonly clock: Pick<Clock, 'setTimer'>
  report(error: unknown): void
}

export class AgentList {
  readonly #parts: AgentListParts
  readonly #directory: string
  readonly #listeners = new Set<Listener>()
  #timer: Timer | undefined
  /** The list that its listeners have, and how the files were then. */
  #told: { readonly files: string; readonly text: string; readonly list: AgentsOnWire } | undefined

  constructor(parts: AgentListParts) {
    this.#parts = parts
    this.#directory = join(parts.config.home, 'agents')
  }

  /** The projects' agents are not in it: those belong to their directories. */
  async list(): Promise<AgentsOnWire> {
    const { config } = this.#parts
    const rows = await listAgents(config, openCatalogue(config), config.home)
    return { default: this.#parts.default, agents: rows.map((row) => this.#onWire(row)) }
  }

  #onWire({ command: _command, file: _file, ...row }: ListedAgent): AgentOnWire {
    const installing = new ProgressFile(join(this.#directory, row.name)).read()
    // The whole reason names files of the user and variables.
    const isRefused = row.reason !== undefined && row.source === 'user'
    return { ...row, ...(isRefused && { reason: REFUSED }), ...(installing !== undefined && { installing }) }
  }

  /** Calls with the list, soon and whenever it is another one, until the answer is called. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#told !== undefined) listener(this.#told.list)
    if (this.#listeners.size === 1) void this.#look()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#timer?.cancel()
      this.#told = undefined
    }
  }

  async #look(): Promise<void> {
    try {
      const files = this.#filesNow()
      // An installation that is killed changes no file.
      const isInstalling = this.#told?.list.agents.some(({ installing }) => installing !== undefined) === true
      if (isInstalling || files !== this.#told?.files) await this.#tell(files)
    } catch (error) {
      this.#parts.report(error)
    }
    this.#timer?.cancel()
    if (this.#listeners.size > 0) this.#timer = this.#parts.clock.setTimer(POLL_MS, () => void this.#look())
  }

  async #tell(files: string): Promise<void> {
    const list = await this.list()
    const text = JSON.stringify(list)
    const isNew = text !== this.#told?.text
    this.#told = { files, text, list }
    if (isNew) for (const listener of this.#listeners) listener(list)
  }

  /** Changes with whatever could change the list, but for the programs on PATH. */
  #filesNow(): string {
    const folders = namesIn(this.#directory).map((name) => join(this.#directory, name))
    const versions = folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    const all = [userFile(this.#parts.config.environment), this.#directory, ...folders, ...versions]
    return all.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(' ')
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // A file, or nothing was installed yet.
    return []
  }
}
