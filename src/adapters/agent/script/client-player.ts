/** Plays the steps that use the client. A service that the client does not offer or refuses is reported, and the script continues. */
import { waitAtMost } from '../../../async/with-timeout.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import type { Turn } from '../../../ports/agent.ts'
import type { Terminal, TerminalCommand, TerminalExit } from '../../../ports/client-peer.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ScriptedRequest } from './steps.ts'

/** A killed command may take a moment to end. */
const KILL_TIMEOUT_MS = 5_000

/** Errors after which the script continues: the client refused, left or answered something invalid. */
const SAID = [
  'CLIENT_GONE',
  'CLIENT_CANCELLED',
  'CLIENT_TIMEOUT',
  'CLIENT_REFUSED',
  'CLIENT_ANSWER_INVALID',
  'PATH_NOT_ABSOLUTE',
  'PATH_OUTSIDE_ROOTS',
  'PATH_NOT_ALLOWED',
  'LINE_INVALID',
  'ELICITATION_INVALID',
] as const

export class ClientPlayer {
  readonly #turn: Turn
  readonly #clock: Clock

  constructor(turn: Turn, clock: Clock) {
    this.#turn = turn
    this.#clock = clock
  }

  async play(request: ScriptedRequest): Promise<void> {
    try {
      await this.#say(await this.#answerTo(request))
    } catch (error) {
      if (this.#turn.signal.aborted) return
      if (!SAID.some((code) => isParleyError(error, code))) throw error
      await this.#say(`(${(error as Error).message})`)
    }
  }

  async #answerTo(request: ScriptedRequest): Promise<string> {
    const { client } = this.#turn
    switch (request.kind) {
      case 'readFile':
        return client.readTextFile?.(request.file) ?? missing('fs/read_text_file')
      case 'writeFile': {
        if (client.writeTextFile === undefined) return missing('fs/write_text_file')
        await client.writeTextFile(request.file)
        return ''
      }
      case 'terminal':
        return this.#run(request.command, request.timeoutMs)
      case 'form': {
        const answer = await client.elicit?.form?.(request.form)
        if (answer === undefined) return missing('elicitation/create')
        return answer.action === 'accept' ? `accept ${JSON.stringify(answer.content)}` : answer.action
      }
      case 'url': {
        const answer = await client.elicit?.url?.(request.page)
        if (request.completes) answer?.complete()
        return answer?.action ?? missing('elicitation/create')
      }
    }
  }

  async #run(command: TerminalCommand, timeoutMs: number | undefined): Promise<string> {
    const { terminals } = this.#turn.client
    if (terminals === undefined) return missing('terminal/create')
    const terminal = await terminals.create(command)
    try {
      const exit = await this.#exitOf(terminal, timeoutMs)
      const { output, exit: last } = await terminal.output()
      return `${inWords(exit ?? last)}\n${output}`
    } finally {
      await terminal.release()
    }
  }

  /** A command that takes too long is killed; undefined if it does not end then either. */
  async #exitOf(terminal: Terminal, timeoutMs: number | undefined): Promise<TerminalExit | undefined> {
    const exit = terminal.waitForExit()
    // After the timeout a rejection would be unhandled.
    exit.catch(() => undefined)
    if (timeoutMs === undefined) return exit
    const inTime = await waitAtMost(exit, { clock: this.#clock, ms: timeoutMs })
    if (inTime !== undefined) return inTime
    await terminal.kill()
    return waitAtMost(exit, { clock: this.#clock, ms: KILL_TIMEOUT_MS })
  }

  async #say(text: string): Promise<void> {
    if (text !== '') await this.#turn.say({ type: 'text', text })
  }
}

function missing(method: string): string {
  return `(${method} is not offered by this client)`
}

function inWords(exit: TerminalExit | undefined): string {
  if (exit === undefined) return 'did not end'
  return exit.exitCode === null ? `ended by ${exit.signal ?? 'a signal'}` : `exit code ${exit.exitCode}`
}
