/** Starts the real binary as an editor would, with a state directory of its own. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environmentOf } from './environment.ts'
import type { RawConnection } from '../wire/raw-connection.ts'
import type { Fields } from './message.ts'
import { RawClient } from './raw-client.ts'

export const binary = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))

export interface Start {
  /** The state directory. */
  readonly home: string
  /** `guide` or `script:FILE`. */
  readonly agent: string
  readonly env?: Readonly<Record<string, string>>
  /** Another build of the binary. */
  readonly bin?: string
  /** A program that runs ours: a tracer, a profiler. */
  readonly under?: readonly string[]
  /** Where the process starts; sessions must not care. */
  readonly startIn?: string
}

export function startParley({ home, agent, env = {}, bin = binary, under = [], startIn = '/' }: Start): RawClient {
  const [command, ...args] = [...under, process.execPath, bin, 'acp', '--embedded', '--agent', agent]
  const child = spawn(command, args, {
    cwd: startIn,
    env: environmentOf({ home, env }),
  })
  return new RawClient(child)
}

export function freshDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'parley-e2e-'))
}

export interface Workplace {
  /** All that belongs to it is below. */
  readonly directory: string
  /** Where sessions work. */
  readonly cwd: string
  readonly agent: string
}

/** A directory of its own, with an agent that plays these steps. */
export async function workplace(steps: readonly Fields[]): Promise<Workplace> {
  const directory = freshDirectory()
  const cwd = join(directory, 'work')
  mkdirSync(cwd)
  return { directory, cwd, agent: await scriptAgent(directory, steps) }
}

/** Writes a script and gives it as the `--agent` flag wants it. */
export async function scriptAgent(directory: string, steps: readonly Fields[]): Promise<string> {
  const path = join(directory, 'script.jsonl')
  await writeFile(path, steps.map((step) => `${JSON.stringify(step)}\n`).join(''))
  return `script:${path}`
}

/** The founding exchange A, so that anything else may follow. */
export async function initialize(client: RawConnection): Promise<void> {
  await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
}

export async function newSession(
  client: RawConnection,
  cwd: string,
  mcpServers: readonly Fields[] = [],
): Promise<string> {
  const { result, error } = await client.request('session/new', { cwd, mcpServers })
  if (result === undefined) throw new Error(`session/new was refused: ${error?.message}`)
  return String(result['sessionId'])
}

export function promptOf(sessionId: string, text: string): Fields {
  return { sessionId, prompt: [{ type: 'text', text }] }
}
