/** Every agent that there is, by the name that sessions keep. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Agent, Agents, ClientVariables, PromptKinds } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Models } from '../../ports/model.ts'
import { ModelAgents, type ModelAgentsOptions } from './model/agents.ts'
import { Contexts } from './model/context/context.ts'
import { acceptedBy } from './script/accepts.ts'
import { type ScriptFile, openScriptAgent } from './script/agent.ts'

/** What sessions were told by Parleys that knew one script at a time. */
const SCRIPT_WITHOUT_FILE = 'script'

const ONLY_TEXT: PromptKinds = { image: false, audio: false, embeddedContext: false }

export interface AgentsOptions extends ModelAgentsOptions {
  /** Its full name, or `auto`. */
  readonly default: string
  readonly clock: Clock
  readonly models: Models
  /** The models as they are with what a client has lent, the same for the same; undefined where that changes nothing. */
  readonly modelsWith?: (lent: ClientVariables) => Models | undefined
}

export function openAgents(options: AgentsOptions): Agents {
  const { default: preset, clock, modelsWith } = options
  const contexts = new Contexts()
  const ownAgents = new ModelAgents(options, contexts)
  const lentAgents = new WeakMap<Models, ModelAgents>()
  let tellChanged: (kind: string) => void = () => undefined
  // Whoever opens the first session need not wait for what could be found out before.
  if (preset === 'auto') void ownAgents.found()

  function modelAgents(lent: ClientVariables | undefined): ModelAgents {
    const models = lent === undefined ? undefined : modelsWith?.(lent)
    if (models === undefined) return ownAgents
    const known = lentAgents.get(models)
    if (known !== undefined) return known
    const opened = new ModelAgents({ ...options, models }, contexts)
    opened.whenChanged(() => tellChanged('model'))
    lentAgents.set(models, opened)
    return opened
  }

  async function settle(wish: string, lent?: ClientVariables): Promise<string> {
    if (wish !== 'auto') return wish
    return (await modelAgents(lent).found()) ? 'model' : 'guide'
  }

  async function open(wish: string, lent?: ClientVariables): Promise<Agent> {
    const name = await settle(wish, lent)
    if (name === 'guide') return openGuide()
    if (name === SCRIPT_WITHOUT_FILE) return open(preset, lent)
    const model = modelIn(name)
    if (model !== undefined) return modelAgents(lent).open(model)
    const script = scriptIn(name)
    if (script === undefined) return fail('AGENT_UNKNOWN', { agent: name })
    if (!isAbsolute(script.path))
      return fail('PATH_NOT_ABSOLUTE', { what: 'The script of the agent', path: script.path })
    return openScriptAgent(script, clock)
  }

  function accepts(name: string, lent?: ClientVariables): PromptKinds {
    if (name === SCRIPT_WITHOUT_FILE) return preset === name ? ONLY_TEXT : accepts(preset, lent)
    const model = name === 'auto' ? '' : modelIn(name)
    if (model !== undefined) return modelAgents(lent).accepts(model) ?? ONLY_TEXT
    const script = scriptIn(name)
    return script === undefined ? ONLY_TEXT : acceptedBy(script.path)
  }

  return {
    default: preset,
    resolveAgentName: settle,
    open,
    accepts,
    whenChanged(listener) {
      tellChanged = listener
      ownAgents.whenChanged(() => listener('model'))
    },
  }
}

/** Empty for the agent `model`, whichever that is; undefined for another agent. */
function modelIn(name: string): string | undefined {
  return name === 'model' ? '' : /^model:(.+)$/su.exec(name)?.[1]
}

/** `script:FILE` was named by the user; `asked-script:FILE` by a file, so its calls need permission. */
function scriptIn(name: string): ScriptFile | undefined {
  const [, asked, path] = /^(asked-)?script:(.+)$/su.exec(name) ?? []
  return path === undefined ? undefined : { path, isAsked: asked !== undefined }
}

async function openGuide(): Promise<Agent> {
  const { openGuide: open } = await import('./guide/agent.ts')
  return open()
}
