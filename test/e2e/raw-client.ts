/** A raw client at the stdin and stdout of a process that it owns. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { RawConnection } from '../wire/raw-connection.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export class RawClient extends RawConnection {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves when the process is gone and all that it wrote has been read. */
  readonly exited: Promise<Exit>
  /** Why stdout is not what it must be: a line that is no JSON, bytes that are no UTF-8. For the test to fail on. */
  readonly impurities: string[] = []
  stderr = ''

  /** Messages go through the child's own streams, or through those that lead to it by another way. */
  constructor(
    child: ChildProcessWithoutNullStreams,
    { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable } = child,
  ) {
    super(stdin, stdout)
    this.child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exited = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve({ code, signal })
        this.finish()
      })
    })
  }

  /** Whether the process has ended. */
  get gone(): boolean {
    return this.isEnded
  }

  closeStdin(): void {
    this.child.stdin.end()
  }

  /** `kill -9`; resolves when what was in the pipe has been read. */
  async kill(): Promise<Exit> {
    this.child.kill('SIGKILL')
    return this.exited
  }

  /** Closes stdin and waits for the process to end by itself. */
  async leave(): Promise<Exit> {
    this.closeStdin()
    return this.exited
  }

  protected override impure(line: string): void {
    this.impurities.push(line)
  }

  protected override lastWords(): string {
    return `stderr: ${this.stderr.slice(-500)}`
  }
}
