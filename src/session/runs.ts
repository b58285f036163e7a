/** The running turn of a live session: begun, answered, cancelled; what always holds of an answer is kept before it counts. */
import { reasonOf } from '../errors/parley-error.ts'
import type { Notice } from '../ports/content.ts'
import type { AnsweredQuestion, Effect } from './batch.ts'
import type { Command } from './commands.ts'
import { decide } from './decide.ts'
import type { Entry } from './entries.ts'
import type { Lenders } from './lenders.ts'
import { ruleMadeBy } from './permission.ts'
import { type Existing, type State, isBusy } from './state.ts'
import type { Toolbox } from './toolbox.ts'
import { TurnRun } from './turn.ts'
import type { World } from './world.ts'

/** What the turns of a session need of it. */
export interface RunsHost {
  readonly sessionId: string
  readonly world: World
  readonly toolbox: Toolbox
  readonly lenders: Lenders
  readonly state: () => Existing
  readonly dispatch: (command: Command) => Promise<readonly Entry[]>
  readonly post: (command: Command, chars: number) => Promise<void>
  readonly notify: (notice: Notice) => void
  readonly isGone: () => boolean
}

export class Runs {
  readonly #host: RunsHost
  #run: TurnRun | undefined

  constructor(host: RunsHost) {
    this.#host = host
  }

  /** A turn that was stored although its writer was told that it was not has no agent, and never gets one. */
  isNobodys(state: State): boolean {
    return isBusy(state) && state.phase !== 'suspended' && state.turn.turnId !== this.#run?.turnId
  }

  act(effect: Effect): void {
    switch (effect.kind) {
      case 'run':
        this.#play(effect)
        return
      case 'cancel':
        this.cancel()
        return
      case 'answer':
        this.#answer(effect.answered)
    }
  }

  cancel(): void {
    this.#run?.cancel()
  }

  /** Its entries can no longer be stored. */
  break(error: unknown): void {
    this.#run?.break(error)
  }

  #play({ turn, answered }: Effect & { readonly kind: 'run' }): void {
    const { toolbox, isGone, state } = this.#host
    if (isGone()) return
    const { additionalDirectories } = turn
    const tools = toolbox.lend(additionalDirectories)
    const roots = [state().cwd, ...additionalDirectories]
    const host = { ...this.#turnHost(turn.promptId), roots, tools: tools.registry }
    const run = new TurnRun(host, turn, answered)
    this.#run = run
    const kept = answered === undefined ? undefined : this.#keep(answered)
    const played = kept === undefined ? run.play() : kept.then(() => run.play())
    this.#inTheBackground(played.then(() => tools.giveBack()))
  }

  #answer(answered: AnsweredQuestion): void {
    const run = this.#run
    const go = (): void => run?.answered(answered.question.requestId, answered.outcome)
    const kept = this.#keep(answered)
    if (kept === undefined) go()
    else this.#inTheBackground(kept.then(go))
  }

  /** The rule that an answer makes is there before what it was given to: the next call of its kind is not asked about. */
  #keep({ question, outcome }: AnsweredQuestion): Promise<unknown> | undefined {
    const rule = ruleMadeBy(question, outcome)
    if (rule === undefined) return undefined
    const { world, state, dispatch } = this.#host
    const { rules, report } = world
    return rules.remember(state().cwd, rule).catch((error: unknown) => {
      report(error)
      const text = `${rule.effect === 'allow' ? 'Allowed' : 'Refused'} this once only: the rule for this project could not be stored (${reasonOf(error)}).`
      return dispatch({ kind: 'notice', text }).catch(report)
    })
  }

  #turnHost(promptId: string) {
    const { sessionId, world, lenders, state, dispatch, post, notify, isGone } = this.#host
    return {
      sessionId,
      world,
      dispatch,
      post,
      notify,
      isGone,
      allowedTools: () => state().allowedTools,
      settings: () => state().settings,
      steps: () => state().steps,
      turns: () => state().turns,
      isNews: (command: Command) => decide(command, state()).length > 0,
      lent: () => lenders.of(promptId),
      askable: (mode: 'form' | 'url') => lenders.askable(promptId, mode),
      whenJoined: (listener: () => void) => lenders.whenJoined(listener),
    }
  }

  #inTheBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#host.world.report(error))
  }
}
