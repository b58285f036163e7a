/** The command that logs a user in to an agent in a terminal. */
import { basename } from 'node:path'
import { z } from 'zod'
import { knownAgent } from '../known/start-table.ts'
import type { AgentLaunch, LoginMethod } from '../launch.ts'

export interface TerminalLogin {
  readonly program: string
  readonly args: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
}

const texts = z.array(z.string())
const table = z.record(z.string(), z.string())

const described = z.object({ command: z.string(), args: texts.optional(), env: table.optional() })

/**
 * Undefined for a method that needs no terminal. What `_meta["terminal-auth"]` says counts; otherwise the method's arguments follow
 * those of the agent, or replace them where its row says so.
 */
export function terminalLogin(launch: AgentLaunch, { type, raw }: LoginMethod): TerminalLogin | undefined {
  const meta = raw['_meta'] as Readonly<Record<string, unknown>> | undefined
  const said = described.safeParse(meta?.['terminal-auth'])
  if (said.success) return asDescribed(launch, said.data)
  if (type !== 'terminal') return undefined
  const more = texts.safeParse(raw['args']).data ?? []
  const env = { ...launch.env, ...table.safeParse(raw['env']).data }
  const own = launch.quirks.terminalArgs === 'append' ? launch.args : scriptOf(launch)
  return { program: launch.program, args: [...own, ...more], env }
}

/** Some name themselves by a name that is not on PATH: then they mean the program that Parley starts. */
function asDescribed(launch: AgentLaunch, { command, args = [], env }: z.infer<typeof described>): TerminalLogin {
  const whole = { ...launch.env, ...env }
  const isItself = !command.includes('/') && command === knownAgent(launch.name)?.command
  if (!isItself) return { program: command, args, env: whole }
  return { program: launch.program, args: [...scriptOf(launch), ...args], env: whole }
}

/** The arguments that make Node run it; none for a program that is executed itself. */
function scriptOf({ program, args }: AgentLaunch): readonly string[] {
  return /^node(?:\.exe)?$/u.test(basename(program)) ? args.slice(0, 1) : []
}
