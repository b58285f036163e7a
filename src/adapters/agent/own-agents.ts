/** The names of Parley's own agents, and what each of them accepts of a prompt. */
import type { PromptKinds } from '../../ports/agent.ts'
import type { Models } from '../../ports/model.ts'

export const ONLY_TEXT: PromptKinds = { image: false, audio: false, embeddedContext: false }

/** Empty for the agent `model`; undefined for the name of another agent. */
export function modelIn(name: string): string | undefined {
  return name === 'model' ? '' : /^model:(.+)$/su.exec(name)?.[1]
}

/** Of `guide`, `auto` and the model agents; undefined for all others, about which their names alone say nothing. */
export function acceptedByOwn(name: string, models: Pick<Models, 'preset' | 'about'>): PromptKinds | undefined {
  if (name === 'guide') return ONLY_TEXT
  const model = name === 'auto' ? '' : modelIn(name)
  return model === undefined ? undefined : (acceptedByModel(model, models) ?? ONLY_TEXT)
}

/** An empty name is the default model. */
function acceptedByModel(name: string, models: Pick<Models, 'preset' | 'about'>): PromptKinds | undefined {
  const model = name === '' ? models.preset : name
  try {
    return model === undefined ? undefined : models.about(model).accepts
  } catch {
    // A provider that is no longer configured is reported by the next request to its model.
    return undefined
  }
}
