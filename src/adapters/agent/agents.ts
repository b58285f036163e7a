/** Every agent that there is, by the name that sessions keep. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Agent, Agents, PromptKinds } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import { acceptedBy } from './script/accepts.ts'
import { openScriptAgent } from './script/agent.ts'

/** What sessions were told by Parleys that knew one script at a time. */
const SCRIPT_WITHOUT_FILE = 'script'

const ONLY_TEXT: PromptKinds = { image: false, audio: false, embeddedContext: false }

export interface AgentsOptions {
  /** Its full name. */
  readonly default: string
  readonly clock: Clock
}

export function openAgents({ default: preset, clock }: AgentsOptions): Agents {
  async function open(name: string): Promise<Agent> {
    if (name === 'guide') return openGuide()
    if (name === SCRIPT_WITHOUT_FILE) return open(preset)
    const path = pathIn(name)
    if (path === undefined) return fail('AGENT_UNKNOWN', { agent: name })
    if (!isAbsolute(path)) return fail('PATH_NOT_ABSOLUTE', { what: 'The script of the agent', path })
    return openScriptAgent(path, clock)
  }

  function accepts(name: string): PromptKinds {
    if (name === SCRIPT_WITHOUT_FILE) return preset === name ? ONLY_TEXT : accepts(preset)
    const path = pathIn(name)
    return path === undefined ? ONLY_TEXT : acceptedBy(path)
  }

  return { default: preset, open, accepts }
}

function pathIn(name: string): string | undefined {
  return /^script:(.+)$/su.exec(name)?.[1]
}

async function openGuide(): Promise<Agent> {
  const { openGuide: open } = await import('./guide/agent.ts')
  return open()
}
