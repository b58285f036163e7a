/** Opens the agents of sessions by the full names that sessions store. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type {
  Agent,
  AgentLogin,
  AgentSession,
  Agents,
  ClientVariables,
  NamedAt,
  PromptKinds,
} from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Models } from '../../ports/model.ts'
import type { ExternalAgents } from './external/agents.ts'
import { ModelAgents, type ModelAgentsOptions } from './model/model-agents.ts'
import { Contexts } from './model/context/context.ts'
import { ONLY_TEXT, acceptedByOwn, modelIn } from './own-agents.ts'
import { type ScriptFile, acceptedBy, openScriptAgent, readScript } from './script/play-script.ts'

/** Stored by older versions, which knew one script at a time. */
const SCRIPT_WITHOUT_FILE = 'script'

export interface AgentsOptions extends ModelAgentsOptions {
  /** Its full name, or `auto`. */
  readonly default: string
  readonly clock: Clock
  readonly models: Models
  /** The models with the variables of a client, the same for equal variables; undefined if those make no difference. */
  readonly modelsWith?: (variables: ClientVariables) => Models | undefined
  /** What is stored of external agents, without loading them. */
  readonly logins?: (name: string) => readonly AgentLogin[]
  /** Loads the external agents; absent where there are none. */
  readonly external?: () => Promise<ExternalAgents>
}

export function openAgents(options: AgentsOptions): Agents {
  const { default: preset, clock } = options
  const models = new AgentsByModels(options)
  const external = new LoadedOnce(options.external)
  // Finding the local models takes a while, so it begins before the first session waits for it.
  if (preset === 'auto') void models.of(undefined).found()
  if (isExternal(preset)) void external.load()

  async function resolveAgentName(requested: string, { variables, cwd }: NamedAt = {}): Promise<string> {
    if (requested !== 'auto')
      return isOwn(requested) ? requested : ((await external.load())?.fullName(requested, cwd) ?? requested)
    return (await models.of(variables).found()) ? 'model' : 'guide'
  }

  /** Throws AGENT_UNKNOWN and PATH_NOT_ABSOLUTE. */
  async function kindOf(requested: string, at?: NamedAt): Promise<AgentKind> {
    const name = await resolveAgentName(requested, at)
    if (name === 'guide') return { kind: 'guide' }
    if (name === SCRIPT_WITHOUT_FILE) return kindOf(preset, at)
    if (isExternal(name)) return externalKind(name)
    const model = modelIn(name)
    if (model !== undefined) return { kind: 'model', model }
    const file = scriptIn(name)
    if (file === undefined) return unknown(name)
    if (!isAbsolute(file.path)) return fail('PATH_NOT_ABSOLUTE', { what: 'The script of the agent', path: file.path })
    return { kind: 'script', file }
  }

  async function unknown(name: string): Promise<never> {
    const candidates = (await external.load())?.candidates(name) ?? []
    return fail('AGENT_UNKNOWN', { agent: name, ...(candidates.length > 0 && { candidates: candidates.join(', ') }) })
  }

  async function externalKind(name: string): Promise<AgentKind> {
    const agents = await external.load()
    if (agents === undefined) return fail('AGENT_UNKNOWN', { agent: name })
    return { kind: 'external', agents, name }
  }

  function accepts(name: string, variables?: ClientVariables): PromptKinds {
    if (name === SCRIPT_WITHOUT_FILE) return preset === name ? ONLY_TEXT : accepts(preset, variables)
    if (isExternal(name)) return external.loaded?.accepts(name) ?? ONLY_TEXT
    const script = scriptIn(name)
    if (script !== undefined) return acceptedBy(script.path)
    return acceptedByOwn(name, models.of(variables).models) ?? ONLY_TEXT
  }

  return {
    default: preset,
    resolveAgentName,
    accepts,
    logins: (name) => (isOwn(name) ? [] : (options.logins?.(name) ?? [])),
    forget(conversations) {
      if (conversations.length > 0) void external.load().then((agents) => agents?.forget(conversations))
    },
    async check(name, at) {
      const known = await kindOf(name, at)
      if (known.kind === 'script') await readScript(known.file)
      if (known.kind === 'external') known.agents.requireKnown(known.name, at?.cwd)
    },
    async open(name, session) {
      const known = await kindOf(name, { variables: session.variables })
      if (known.kind === 'guide') return openGuide()
      if (known.kind === 'external') return known.agents.open(known.name, session)
      return known.kind === 'model' ? models.open(known.model, session) : openScriptAgent(known.file, session, clock)
    },
  }
}

type AgentKind =
  | { readonly kind: 'guide' }
  /** Empty for the agent `model`, which takes whichever model there is. */
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'script'; readonly file: ScriptFile }
  | { readonly kind: 'external'; readonly agents: ExternalAgents; readonly name: string }

/** The adapter of external agents is loaded with the first name that only it can know. */
class LoadedOnce {
  readonly #load: AgentsOptions['external']
  #loading: Promise<ExternalAgents> | undefined
  #loaded: ExternalAgents | undefined

  constructor(load: AgentsOptions['external']) {
    this.#load = load
  }

  get loaded(): ExternalAgents | undefined {
    return this.#loaded
  }

  async load(): Promise<ExternalAgents | undefined> {
    this.#loading ??= this.#load?.()
    this.#loaded = await this.#loading
    return this.#loaded
  }
}

/**
 * The list of models is asked for when the session has been opened. It loads an HTTP client, a megabyte of code, for which the
 * client that opens the first session of a server would wait. Milliseconds.
 */
const REFRESH_AFTER_MS = 100

/** The model agents: those with the server's own variables, and those with the variables of a client. */
class AgentsByModels {
  readonly #options: AgentsOptions
  readonly #contexts = new Contexts()
  readonly #own: ModelAgents
  readonly #withVariables = new WeakMap<Models, ModelAgents>()
  /** The sessions that have a model agent. */
  readonly #sessions = new Set<AgentSession>()

  constructor(options: AgentsOptions) {
    this.#options = options
    this.#own = this.#make(options)
  }

  of(variables: ClientVariables | undefined): ModelAgents {
    const models = variables === undefined ? undefined : this.#options.modelsWith?.(variables)
    if (models === undefined) return this.#own
    const known = this.#withVariables.get(models) ?? this.#make({ ...this.#options, models })
    this.#withVariables.set(models, known)
    return known
  }

  /** It follows the variables of the session's clients: a model may become reachable while the session is open. */
  open(model: string, session: AgentSession): Agent {
    const agents = (): ModelAgents => this.of(session.variables)
    const refreshing = this.#options.clock.setTimer(REFRESH_AFTER_MS, () => agents().refresh())
    this.#sessions.add(session)
    return {
      get capabilities() {
        return agents().capabilities(model)
      },
      commandsFor: (tools) => agents().commandsFor(tools, session.roots),
      run: (turn) => agents().run(turn, model),
      close: async () => {
        refreshing.cancel()
        this.#sessions.delete(session)
      },
    }
  }

  #make(options: ModelAgentsOptions): ModelAgents {
    const agents = new ModelAgents(options, this.#contexts)
    agents.whenChanged(() => {
      for (const session of this.#sessions) void session.capabilitiesChanged()
    })
    return agents
  }
}

function isExternal(name: string): boolean {
  return name.startsWith('acp:')
}

/** Names that say by themselves that they are no external agents. */
function isOwn(name: string): boolean {
  return name === 'guide' || name === SCRIPT_WITHOUT_FILE || modelIn(name) !== undefined || scriptIn(name) !== undefined
}

/** `script:FILE` was named by the user; `asked-script:FILE` by a file, so its calls need permission. */
function scriptIn(name: string): ScriptFile | undefined {
  const [, asked, path] = /^(asked-)?script:(.+)$/su.exec(name) ?? []
  return path === undefined ? undefined : { path, isAsked: asked !== undefined }
}

async function openGuide(): Promise<Agent> {
  const { openGuide: open } = await import('./guide/guide.ts')
  return open()
}
