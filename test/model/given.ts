/** A house whose agent is the model agent over a puppet model: what its tests have in common. */
import { runTurn } from '../../src/adapters/agent/model/loop/loop.ts'
import { optionsOf } from '../../src/adapters/agent/model/options/options.ts'
import { PERMISSION_MODES } from '../../src/adapters/agent/permission-modes.ts'
import { Contexts, type ModelAgentDeps } from '../../src/adapters/agent/model/context/context.ts'
import type { ModelMessage } from '../../src/ports/model.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import type { Session } from '../../src/session/session.ts'
import { quiet } from '../sim/clock.ts'
import { House } from '../sim/house.ts'
import { text } from '../sim/words.ts'
import { type Answer, PuppetModel, modelsOf } from './puppet-model.ts'

/** Resolves when `check` holds; files are read meanwhile, so that nothing can be counted in breaths. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`still not so: ${check.toString()}`)
    await quiet()
  }
}

/** Resolves when the session has nothing to do, or waits for an answer. */
export function settled(session: Session): Promise<void> {
  return until(() => !['working', 'cancelling'].includes(session.state.phase))
}

export interface Given {
  readonly house: House
  readonly model: PuppetModel
}

export function houseWith(answers: readonly Answer[], more: Partial<ModelAgentDeps> = {}): Given {
  const model = new PuppetModel()
  model.answers = [...answers]
  return { house: inhabited(new House(), model, more), model }
}

/** With a session that is open. */
export async function openWith(answers: readonly Answer[], more?: Partial<ModelAgentDeps>) {
  const given = houseWith(answers, more)
  return { ...given, ...(await given.house.open()) }
}

/** The model agent moves in; a house after a kill has the same model and knows nothing. */
export function inhabited(house: House, model: PuppetModel, more: Partial<ModelAgentDeps> = {}): House {
  const means: ModelAgentDeps = {
    models: modelsOf(model),
    preset: model.name,
    clock: house.clock,
    contexts: new Contexts(),
    maxSteps: 20,
    titles: false,
    promptDirectory: undefined,
    ...more,
  }
  house.agent.modes = PERMISSION_MODES
  house.agent.configOptions = optionsOf({ preset: model.name, isNamed: false, sources: [], efforts: model.efforts })
  house.agent.script = (turn) => runTurn(turn, means)
  return house
}

/** Until the turn is over or waits for an answer. */
export async function ask(session: Session, promptId: string, words = 'Hello'): Promise<void> {
  await begin(session, promptId, words)
  await settled(session)
}

export async function begin(session: Session, promptId: string, words = 'Hello'): Promise<void> {
  await session.prompt(promptId, [text(words)])
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

/** What the model was sent with its request of this number, the first being 0, or the last being -1. */
export function toldTo(model: PuppetModel, request: number): readonly string[] {
  return story(model.requests.at(request)?.messages ?? [])
}

function wordsOf(content: { readonly type: string; readonly text?: string }): string {
  return content.text ?? content.type
}

export function ends(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'turn_ended' ? [entry.stopReason] : []))
}
