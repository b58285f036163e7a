/** MCP over the standard streams of a child process, which never outlives us. */
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { LineFraming, TooLong } from '../../../rpc/framing.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Child, ProcessExit, Processes, ProcessSpec } from '../../../ports/process.ts'
import { messagesIn } from './incoming-json.ts'

interface StdioOptions {
  readonly processes: Processes
  readonly clock: Clock
  readonly spec: ProcessSpec
  readonly graceMs: number
  readonly onStart: (pid: number) => void
}

/** Far more than a result may hold; a server that sends a longer line is stopped. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
/** After so many messages in one burst, reading pauses. */
const BURST_MESSAGES = 64
/** A pause is this multiple of the time that the burst took, so that most of this thread is left to others. */
const PAUSE_FACTOR = 3
/** For the last output of a dead server, when a process that left its group holds the pipe open. */
const DRAIN_MS = 200

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** The SDK recognizes a stdio transport by this and `pid`. */
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

  /** Why the server ended, with the end of its stderr; undefined while it runs. */
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
    const ended = child.exited.then(() => clock.sleep(DRAIN_MS))
    await Promise.race([this.#pump(child), ended])
    const exit = await child.exited
    await child.stderrRead
    // An end that we requested explains nothing.
    if (!this.#stopped.signal.aborted) this.#end ??= wordsFor(exit, child.stderrTail())
    this.#close()
  }

  async #pump(child: Child): Promise<void> {
    const framing = new LineFraming(MAX_LINE_BYTES)
    for await (const chunk of child.stdout) {
      const frames = framing.push(chunk)
      await this.#hear(frames.filter((frame) => frame instanceof Uint8Array))
      if (!frames.some((frame) => frame instanceof TooLong)) continue
      this.#end = `a line is longer than ${MAX_LINE_BYTES} bytes`
      void child.stop(0)
      break
    }
    // A server that closed its output cannot answer any more, even if it still runs.
    if (!this.#closed) void child.stop(this.#options.graceMs)
  }

  async #hear(lines: readonly Uint8Array[]): Promise<void> {
    const { clock } = this.#options
    let since = clock.monotonicNow()
    let heard = 0
    for (const line of lines) {
      for (const said of messagesIn(Buffer.from(line).toString('utf8'))) {
        this.#receive(said)
        // The SDK delivers progress one microtask later, and none after the answer.
        await Promise.resolve()
        heard += 1
        if (heard % BURST_MESSAGES > 0) continue
        await clock.sleep((clock.monotonicNow() - since) * PAUSE_FACTOR)
        since = clock.monotonicNow()
      }
    }
  }

  /** Some servers print banners and debug output to stdout; lines that are not messages are skipped. */
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

/** The last lines of stderr usually contain the cause. */
function wordsFor({ code, signal }: ProcessExit, complaints: string): string {
  const said = complaints.trim().split('\n').slice(-3).join(' ')
  return `it ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}${said === '' ? '' : `: ${said}`}`
}
