/** Starts the turns of a live session, and passes answers and cancels to the running one. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { AnsweredQuestion, Effect } from '../domain/decide.ts'
import type { Command } from '../domain/commands.ts'
import { ruleMadeBy } from '../domain/permission-answer.ts'
import { isBusy } from '../domain/state.ts'
import { LogRecovery } from '../log/repair.ts'
import type { ToolRegistryPool } from '../tools/tool-registry-pool.ts'
import { RunningTurn, type TurnParts, failedWith } from './running-turn.ts'

export interface TurnRunnerParts extends TurnParts {
  readonly registries: ToolRegistryPool
}

export class TurnRunner {
  readonly #parts: TurnRunnerParts
  /** Ends a turn that is open although no agent runs it, as soon as that can be stored. */
  readonly recovery: LogRecovery
  #run: RunningTurn | undefined
  /** The last turn that failed outside its agent, before it began or at its end. */
  #failed: { readonly turnId: string; readonly error: unknown } | undefined

  constructor(parts: TurnRunnerParts) {
    this.#parts = parts
    this.recovery = new LogRecovery(parts.ports, parts.log, () => this.#endWithoutAgent())
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

  /** Runs the turn at once, unless the answer that resumed it made a rule: that is stored first. */
  async #play({ turn, answered }: Effect & { readonly kind: 'run' }): Promise<void> {
    const { log, registries } = this.#parts
    if (log.closed.aborted) return
    const { additionalDirectories } = turn
    const tools = registries.lease(additionalDirectories)
    const roots = [log.existing.cwd, ...additionalDirectories]
    try {
      const run = new RunningTurn(this.#parts, turn, { roots, tools: tools.registry, answered })
      this.#run = run
      const kept = answered === undefined ? undefined : this.#keep(answered)
      if (kept !== undefined) await kept
      await run.play()
    } finally {
      await Promise.all([tools.release(), this.#parts.agents.closeUnused()])
    }
  }

  /**
   * Ends an open turn that no agent runs: the turn could not be started, or its start was stored although the append had
   * failed.
   */
  #endWithoutAgent(): Command | undefined {
    const { state } = this.#parts.log
    if (!isBusy(state) || state.phase === 'suspended' || state.turn.turnId === this.#run?.turnId) return undefined
    const { turnId } = state.turn
    return this.#failed?.turnId === turnId
      ? { kind: 'end', turnId, ...failedWith(this.#failed.error) }
      : { kind: 'halt' }
  }

  /** The turn failed outside its agent; if it is still open, it is ended with this error. */
  #lose(turnId: string, error: unknown): void {
    this.#parts.ports.report(error)
    this.#failed = { turnId, error }
    if (this.#run?.turnId === turnId) this.#run = undefined
    this.recovery.begin()
  }

  #answer(answered: AnsweredQuestion): void {
    const run = this.#run
    const go = (): void => run?.answered(answered.question.requestId, answered.outcome)
    const kept = this.#keep(answered)
    if (kept === undefined) go()
    else this.#inTheBackground(kept.then(go))
  }

  /** Stores the rule that an answer makes. The answer counts after that, so that the next call of this kind is not asked about. */
  #keep({ question, outcome }: AnsweredQuestion): Promise<unknown> | undefined {
    const rule = ruleMadeBy(question, outcome)
    if (rule === undefined) return undefined
    const { ports, log } = this.#parts
    const { rules, report } = ports
    return rules.remember(log.existing.cwd, rule).catch((error: unknown) => {
      report(error)
      const text = `${rule.effect === 'allow' ? 'Allowed' : 'Refused'} this once only: the rule for this project could not be stored (${reasonOf(error)}).`
      return log.dispatch({ kind: 'notice', text }).catch(report)
    })
  }

  #inTheBackground(work: Promise<unknown>): void {
    work.catch(this.#parts.ports.report)
  }
}
