/** The running turn of a live session: begun, answered, cancelled; what always holds of an answer is kept before it counts. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { SessionAgents } from '../agents.ts'
import type { AnsweredQuestion, Effect } from '../domain/batch.ts'
import type { Command } from '../domain/commands.ts'
import type { AttachedClients } from '../subscribers/attached-clients.ts'
import { ruleMadeBy } from '../domain/permission-answer.ts'
import { isBusy } from '../domain/state.ts'
import { LogRecovery } from '../log/recovery.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Subscribers } from '../subscribers/subscribers.ts'
import type { RegistryPool } from '../tools/registry-pool.ts'
import { RunningTurn, failedWith } from './running-turn.ts'
import type { SessionPorts } from '../session-ports.ts'

/** The parts of the session that a turn works with. */
export interface TurnRunnerDeps {
  readonly ports: SessionPorts
  readonly log: SessionLog
  readonly agents: SessionAgents
  readonly registries: RegistryPool
  readonly clients: AttachedClients
  readonly subscribers: Subscribers
}

export class TurnRunner {
  readonly #deps: TurnRunnerDeps
  /** Ends a turn that is open although no agent runs it, as soon as the disk takes that. */
  readonly recovery: LogRecovery
  #run: RunningTurn | undefined
  /** The last turn that failed outside its agent, before it began or at its end. */
  #failed: { readonly turnId: string; readonly error: unknown } | undefined

  constructor(deps: TurnRunnerDeps) {
    this.#deps = deps
    this.recovery = new LogRecovery(deps.ports, deps.log, () => this.#endWithoutAgent())
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
    const { log, registries } = this.#deps
    if (log.closed.aborted) return
    const { additionalDirectories } = turn
    const tools = registries.lease(additionalDirectories)
    const roots = [log.existing.cwd, ...additionalDirectories]
    try {
      const run = new RunningTurn({ ...this.#deps, roots, tools: tools.registry }, turn, answered)
      this.#run = run
      const kept = answered === undefined ? undefined : this.#keep(answered)
      if (kept !== undefined) await kept
      await run.play()
    } finally {
      await Promise.all([tools.release(), this.#deps.agents.closeUnused()])
    }
  }

  /**
   * The end of a turn that is open and that no agent runs, nor ever will: it could not be begun, or it was stored although
   * its writer was told that it was not.
   */
  #endWithoutAgent(): Command | undefined {
    const { state } = this.#deps.log
    if (!isBusy(state) || state.phase === 'suspended' || state.turn.turnId === this.#run?.turnId) return undefined
    const { turnId } = state.turn
    return this.#failed?.turnId === turnId
      ? { kind: 'end', turnId, ...failedWith(this.#failed.error) }
      : { kind: 'halt' }
  }

  /** A turn that is still open then is ended with this error. */
  #lose(turnId: string, error: unknown): void {
    this.#deps.ports.report(error)
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

  /** The rule that an answer makes is there before what it was given to: the next call of its kind is not asked about. */
  #keep({ question, outcome }: AnsweredQuestion): Promise<unknown> | undefined {
    const rule = ruleMadeBy(question, outcome)
    if (rule === undefined) return undefined
    const { ports, log } = this.#deps
    const { rules, report } = ports
    return rules.remember(log.existing.cwd, rule).catch((error: unknown) => {
      report(error)
      const text = `${rule.effect === 'allow' ? 'Allowed' : 'Refused'} this once only: the rule for this project could not be stored (${reasonOf(error)}).`
      return log.dispatch({ kind: 'notice', text }).catch(report)
    })
  }

  #inTheBackground(work: Promise<unknown>): void {
    work.catch(this.#deps.ports.report)
  }
}
