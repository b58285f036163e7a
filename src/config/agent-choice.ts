/** The chosen agent: in the form that users write, and in the form that a server stores. */
import { resolve } from 'node:path'
import { fail } from '../errors/parley-error.ts'

export type AgentChoice =
  /** The model agent where there is a model, else the guide. */
  | { readonly kind: 'auto' }
  | { readonly kind: 'guide' }
  /** Full: `provider:name`; absent, whichever there is. */
  | { readonly kind: 'model'; readonly model?: string }
  /** `isAsked`: the user did not name it for this command, so the calls of the script need permission like a model's. */
  | { readonly kind: 'script'; readonly path: string; readonly isAsked: boolean }
  /** As it was typed; the server knows which agent is meant. */
  | { readonly kind: 'external'; readonly name: string }

interface ChoiceOrigin {
  /** The directory to which the path of a script is relative. */
  readonly directory: string
  /** By a flag or in the environment, not in a file. */
  readonly isNamedNow: boolean
}

/** Throws CONFIG_INVALID. */
export function agentChoice(value: string, { directory, isNamedNow }: ChoiceOrigin): AgentChoice {
  if (value === 'auto' || value === 'guide' || value === 'model') return { kind: value }
  const script = /^script:(.+)$/su.exec(value)?.[1]
  if (script !== undefined) return { kind: 'script', path: resolve(directory, script), isAsked: !isNamedNow }
  const model = /^model:(.+)$/su.exec(value)?.[1]
  if (model !== undefined) return modelChoice(model, 'agent')
  if (/^(?:acp:)?[A-Za-z0-9][\w.-]{0,63}$/u.test(value)) return { kind: 'external', name: value }
  const reason =
    'it must be guide, model, model:PROVIDER:NAME, script:FILE, auto, or an external agent that parley agents ls lists'
  return fail('CONFIG_INVALID', { key: 'agent', value: JSON.stringify(value), reason })
}

/** Throws CONFIG_INVALID. */
export function modelChoice(model: string, key = 'model'): AgentChoice {
  if (/^[^\s:]+:\S+$/u.test(model)) return { kind: 'model', model }
  const reason = 'a model is PROVIDER:NAME, like ollama:qwen3; parley models lists them'
  return fail('CONFIG_INVALID', { key, value: JSON.stringify(model), reason })
}

/** The full name that a server uses for it. A relative path is made absolute first. */
export function agentName(choice: AgentChoice): string {
  switch (choice.kind) {
    case 'script':
      return `${choice.isAsked ? 'asked-script' : 'script'}:${choice.path}`
    case 'model':
      return choice.model === undefined ? 'model' : `model:${choice.model}`
    case 'external':
      return choice.name
    default:
      return choice.kind
  }
}
