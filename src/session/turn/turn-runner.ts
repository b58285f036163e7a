/** The running turn of a live session: begun, answered, cancelled; what always holds of an answer is kept before it counts. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { Notice } from '../../ports/content.ts'
import type { AnsweredQuestion, Effect } from '../domain/batch.ts'
import type { Command } from '../domain/commands.ts'
import { decide } from '../domain/decide.ts'
import type { Entry } from '../domain/entries.ts'
import type { ClientProviders } from '../client-services/client-providers.ts'
import { ruleMadeBy } from '../domain/permission-answer.ts'
import { type Existing, type State, isBusy } from '../domain/state.ts'
import type { RegistryPool } from '../tools/registry-pool.ts'
import { RunningTurn, failedWith } from './running-turn.ts'
import type { SessionPorts } from '../session-ports.ts'

/** What the turns of a session need of it. */
export interface TurnRunnerHost {
  readonly sessionId: string
  readonly world: SessionPorts
  readonly toolbox: RegistryPool
  readonly lenders: ClientProviders
  readonly state: () => Existing
  readonly dispatch: (command: Command) => Promise<readonly Entry[]>
  readonly post: (command: Command, chars: number) => Promise<void>
  readonly notify: (notice: Notice) => void
  readonly isGone: () => boolean
  /** A turn is open that no agent runs: it is ended as `endWithoutAgent` says, as soon as the disk takes that. */
  readonly mend: () => void
}

export class TurnRunner {
  readonly #host: TurnRunnerHost
  #run: RunningTurn | undefined
  /** The last turn that failed outside its agent, before it began or at its end. */
  #failed: { readonly turnId: string; readonly error: unknown } | undefined

  constructor(host: TurnRunnerHost) {
    this.#host = host
  }

  /**
   * The end of a turn that is open and that no agent runs, nor ever will: it could not be begun, or it was stored although
   * its writer was told that it was not.
   */
  endWithoutAgent(state: State): Command | undefined {
    if (!isBusy(state) || state.phase === 'suspended' || state.turn.turnId === this.#run?.turnId) return undefined
    const { turnId } = state.turn
    return this.#failed?.turnId === turnId
      ? { kind: 'end', turnId, ...failedWith(this.#failed.error) }
      : { kind: 'halt' }
  }

  act(effect: Effect): void {
    switch (effect.kind) {
      case 'run':
        this.#play(effect).catch((error: unknown) => this.#lose(effect.turn.turnId, error))
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

  /** Runs the agent at once, unless an answer has made a rule that must be kept first. */
  async #play({ turn, answered }: Effect & { readonly kind: 'run' }): Promise<void> {
    const { toolbox, isGone, state } = this.#host
    if (isGone()) return
    const { additionalDirectories } = turn
    const tools = toolbox.lend(additionalDirectories)
    const roots = [state().cwd, ...additionalDirectories]
    try {
      const host = { ...this.#turnHost(turn.promptId), roots, tools: tools.registry }
      const run = new RunningTurn(host, turn, answered)
      this.#run = run
      const kept = answered === undefined ? undefined : this.#keep(answered)
      if (kept !== undefined) await kept
      await run.play()
    } finally {
      await tools.giveBack()
    }
  }

  /** A turn that is still open then is ended with this error. */
  #lose(turnId: string, error: unknown): void {
    const { world, mend } = this.#host
    world.report(error)
    this.#failed = { turnId, error }
    if (this.#run?.turnId === turnId) this.#run = undefined
    mend()
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
      checkpointRange: () => state().checkpointRange,
      turns: () => state().turns,
      isNews: (command: Command) => decide(command, state()).length > 0,
      lent: () => lenders.of(promptId),
      askable: (mode: 'form' | 'url') => lenders.askable(promptId, mode),
      whenJoined: (listener: () => void) => lenders.whenJoined(listener),
    }
  }

  #inTheBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#host.world.report(error))
  }
}
