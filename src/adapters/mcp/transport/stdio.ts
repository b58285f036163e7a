/** MCP over the standard streams of a child process that dies with us. */
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { LineFraming } from '../../../rpc/framing.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Child, ProcessExit, Processes, ProcessSpec } from '../../../ports/process.ts'
import { saidIn } from './incoming-json.ts'

interface StdioOptions {
  readonly processes: Processes
  readonly clock: Clock
  readonly spec: ProcessSpec
  readonly graceMs: number
  readonly onStart: (pid: number) => void
}

/** Far more than a result may hold; a server that never ends its line is cut off here. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
/** After so many messages in one breath, more than anyone asked for, a server is read on after a rest. */
const TALKATIVE = 64
/** The rest, in times of what it took to read them: the better part of this thread is for the others. */
const REST = 3
/** For what a dead server still had in its pipe, when a process that left its group holds that open. */
const REST_MS = 200

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** The protocol layer knows a transport over processes by this and `pid`. */
  readonly stderr = null
  readonly #options: StdioOptions
  readonly #stopped = new AbortController()
  #child: Child | undefined
  #end: string | undefined
  #closed = false

  constructor(options: StdioOptions) {
    this.#options = options
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Why the server is gone, with the last that it said; undefined while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  async start(): Promise<void> {
    const child = await this.#options.processes.spawn(this.#options.spec, this.#stopped.signal)
    this.#child = child
    this.#options.onStart(child.pid)
    void this.#read(child)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#child === undefined)
      return fail('PROCESS_GONE', { command: this.#options.spec.command, reason: 'it was not started' })
    await this.#child.write(Buffer.from(`${JSON.stringify(message)}\n`))
  }

  async close(): Promise<void> {
    this.#stopped.abort()
    await this.#child?.stop(this.#options.graceMs)
    this.#close()
  }

  async #read(child: Child): Promise<void> {
    const { clock } = this.#options
    const ended = child.exited.then(() => clock.sleep(REST_MS))
    await Promise.race([this.#pump(child), ended])
    const exit = await child.exited
    // An end that we asked for explains nothing.
    if (!this.#stopped.signal.aborted) this.#end ??= wordsFor(exit, child.stderrTail())
    this.#close()
  }

  async #pump(child: Child): Promise<void> {
    const framing = new LineFraming(MAX_LINE_BYTES)
    for await (const chunk of child.stdout) {
      const frames = framing.push(chunk)
      await this.#hear(frames.filter((frame) => frame !== 'too_long'))
      if (!frames.includes('too_long')) continue
      this.#end = `a line is longer than ${MAX_LINE_BYTES} bytes`
      void child.stop(0)
      break
    }
    // A server that closed its output can answer nothing any more, whether or not it runs on.
    if (!this.#closed) void child.stop(this.#options.graceMs)
  }

  async #hear(lines: readonly Uint8Array[]): Promise<void> {
    const { clock } = this.#options
    let since = clock.monotonicNow()
    let heard = 0
    for (const line of lines) {
      for (const said of saidIn(Buffer.from(line).toString('utf8'))) {
        this.#receive(said)
        // The protocol layer tells of progress a step later, and of none once it has seen the answer.
        await Promise.resolve()
        heard += 1
        if (heard % TALKATIVE > 0) continue
        await clock.sleep((clock.monotonicNow() - since) * REST)
        since = clock.monotonicNow()
      }
    }
  }

  /** Servers print banners and debug lines where only messages belong; those are passed over. */
  #receive(said: unknown): void {
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(said)
    } catch (error) {
      this.onerror?.(error as Error)
      return
    }
    this.onmessage?.(message)
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.onclose?.()
  }
}

/** The last lines of its complaints usually hold the cause. */
function wordsFor({ code, signal }: ProcessExit, complaints: string): string {
  const said = complaints.trim().split('\n').slice(-3).join(' ')
  return `it ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}${said === '' ? '' : `: ${said}`}`
}
