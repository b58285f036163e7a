/** A house whose agent is the model agent over a puppet model: what its tests have in common. */
import { runTurn } from '../../src/adapters/agent/model/agent.ts'
import { optionsOf } from '../../src/adapters/agent/model/options.ts'
import { PERMISSION_MODES } from '../../src/adapters/agent/permission-modes.ts'
import { Contexts } from '../../src/adapters/agent/model/contexts.ts'
import type { Means } from '../../src/adapters/agent/model/work.ts'
import type { ModelMessage } from '../../src/ports/model.ts'
import type { Entry } from '../../src/session/entries.ts'
import type { Session } from '../../src/session/session.ts'
import { quiet } from '../sim/clock.ts'
import { House } from '../sim/house.ts'
import { text } from '../sim/words.ts'
import { type Answer, PuppetModel, modelsOf } from './puppet-model.ts'

/** Whatever waits for neither time nor people has happened. */
export async function settled(): Promise<void> {
  for (let breath = 0; breath < 50; breath += 1) await quiet()
}

export interface Given {
  readonly house: House
  readonly model: PuppetModel
}

export function houseWith(answers: readonly Answer[], more: Partial<Means> = {}): Given {
  const model = new PuppetModel()
  model.answers = [...answers]
  return { house: inhabited(new House(), model, more), model }
}

/** The model agent moves in; a house after a kill has the same model and knows nothing. */
export function inhabited(house: House, model: PuppetModel, more: Partial<Means> = {}): House {
  const means: Means = {
    models: modelsOf(model),
    preset: model.name,
    clock: house.clock,
    contexts: new Contexts(),
    maxSteps: 20,
    ...more,
  }
  house.agent.modes = PERMISSION_MODES
  house.agent.configOptions = optionsOf({ preset: model.name, isNamed: false, sources: [], efforts: model.efforts })
  house.agent.script = (turn) => runTurn(turn, means)
  return house
}

export async function ask(session: Session, promptId: string, words = 'Hello'): Promise<void> {
  await session.prompt(promptId, [text(words)])
  await settled()
}

/** Messages as a story of short lines. */
export function story(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap((message): readonly string[] => {
    switch (message.role) {
      case 'user':
        return [`user: ${message.content.map(wordsOf).join(' | ')}`]
      case 'assistant':
        return message.parts.map((part) => (part.kind === 'call' ? `call: ${part.id}` : `model: ${part.text}`))
      case 'tool':
        return message.results.map(
          ({ id, content, isError }) => `${isError ? 'error' : 'result'} ${id}: ${content.map(wordsOf).join(' | ')}`,
        )
    }
  })
}

function wordsOf(content: { readonly type: string; readonly text?: string }): string {
  return content.text ?? content.type
}

export function ends(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'turn_ended' ? [entry.stopReason] : []))
}
