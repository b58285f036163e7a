import type { Readable } from 'node:stream'

export interface World {
  readonly home: string
  readonly pid: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input: Readable
  readonly over: AbortSignal
  write(bytes: Uint8Array): void
  complain(bytes: Uint8Array): void
  exit(code: number): void
  kill(signal: string): void
  crash(error: unknown): void
}

export declare function playAgent(world: World): Promise<void>
