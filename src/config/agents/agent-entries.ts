/** The tables `[agents.NAME]` of a settings file: their schema, and the external agents that they describe. */
import { z } from 'zod'
import type { AgentEntry } from '../../ports/values/agent-settings.ts'
import {
  type SettingMistake,
  faultOf,
  isTable,
  number,
  oneOf,
  switchValue,
  tableWith,
  text,
  textTable,
} from '../tables.ts'

/** In the entry `${NAME}` is not replaced yet, neither in `args` nor in `env`. */
export type AgentRead = { readonly entry: AgentEntry } | { readonly fault: SettingMistake; readonly name: string }

const texts = z.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'it must be a list of texts',
)

const variableNames = z.custom<readonly string[]>(
  (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' && /^[A-Za-z_][A-Za-z0-9_]*\*?$/u.test(one)),
  'it must be a list of names of variables; a * at the end stands for more',
)

const choices = z.custom<Readonly<Record<string, string | boolean>>>(
  (value) => isTable(value) && Object.values(value).every((one) => typeof one === 'string' || typeof one === 'boolean'),
  'it must be a table of texts, true and false',
)

const patterns = z.custom<readonly { readonly code?: number; readonly text?: string }[]>(
  (value) => Array.isArray(value) && value.every(isPattern),
  'it must be a list of tables: code, text, or both',
)

function isPattern(value: unknown): boolean {
  if (!isTable(value)) return false
  const { code, text: part, ...others } = value
  const isSaid = typeof code === 'number' || typeof part === 'string'
  return isSaid && Object.keys(others).length === 0
}

const milliseconds = number('a number of milliseconds from 0', (value) => value >= 0)

/** The fields of a quirk row; `docs/agents.md` says what each does. The adapter checks that these are all. */
export const quirkFields = {
  stopWith: oneOf(['eof', 'term', 'kill']),
  idleMinutes: number('a number of minutes above 0', (value) => value > 0),
  initMs: milliseconds,
  notFound: patterns,
  busy: patterns,
  reloadAfter: patterns,
  useResume: switchValue,
  useLoad: switchValue,
  useFork: switchValue,
  unpromptedLoads: switchValue,
  replayAfterResponseMs: milliseconds,
  replayLoses: texts,
  pseudoUser: texts,
  stableIds: switchValue,
  textNoise: texts,
  errorAsText: texts,
  emptyEndIsError: switchValue,
  cancelKillMs: milliseconds,
  lateMs: milliseconds,
  turnSignals: texts,
  modelVerb: oneOf(['set_config_option', 'set_model', 'none']),
  modesAre: oneOf(['mode', 'thought_level']),
  keepTitle: switchValue,
  cutKeeps: oneOf(['nothing', 'prompt', 'partial']),
  asks: oneOf(['always', 'some', 'never', 'unknown']),
  mcp: oneOf(['front', 'pass', 'none']),
  protocol: number('1', (value) => value === 1),
  clientInfo: tableWith({ name: text, version: text }, 'it must be a table: name, version'),
  authBefore: text,
  terminalArgs: oneOf(['append', 'replace']),
  blockingRequests: texts,
} as const

const quirks = tableWith(
  Object.fromEntries(Object.entries(quirkFields).map(([key, field]) => [key, field.optional()])),
  'it must be a table',
)

const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/u

const agent = tableWith(
  {
    command: text.optional(),
    args: texts.optional(),
    env: textTable(
      'a table of texts, whose names are those of variables',
      /^[A-Za-z_][A-Za-z0-9_]*$/u,
      /^[^\0]*$/u,
    ).optional(),
    pass_env: variableNames.optional(),
    registry: text.optional(),
    version: z.string('it must be a version').regex(VERSION, 'it must be an exact version, like "1.2.3"').optional(),
    mode: text.optional(),
    options: choices.optional(),
    mcp: oneOf(['front', 'pass', 'none']).optional(),
    idle_minutes: number('a number of minutes above 0', (value) => value > 0).optional(),
    warm: switchValue.optional(),
    max_memory_mb: number('a number of megabytes above 0', (value) => value > 0).optional(),
    stall_minutes: number('a number of minutes above 0', (value) => value > 0).optional(),
    quirks: quirks.optional(),
  },
  'an agent is a table: command, or registry',
)

type AgentTable = z.infer<typeof agent>

/** The tables under `agents`, each by itself: a fault of one does not affect the others. */
export function readAgents(agents: unknown, source: 'user' | 'project'): readonly AgentRead[] {
  if (!isTable(agents)) {
    const value = Array.isArray(agents) ? 'a list' : `a ${typeof agents}`
    return [{ name: 'agents', fault: { key: 'agents', value, reason: 'it has tables: [agents.NAME]' } }]
  }
  return Object.entries(agents).map(([name, table]) => {
    const at = `agents.${name}`
    const fault = nameFault(name) ?? faultOf(at, table, agent)
    if (fault !== undefined) return { name, fault }
    const checked = table as AgentTable
    const contrary = contradiction(at, checked) ?? relativeCommand(at, checked, source)
    return contrary === undefined ? { entry: entryOf(name, checked) } : { name, fault: contrary }
  })
}

/** Names that mean something else where an agent is named. */
const TAKEN: ReadonlySet<string> = new Set(['auto', 'guide', 'model', 'script', 'asked-script', 'acp'])

function nameFault(name: string): SettingMistake | undefined {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/u.test(name) && !TAKEN.has(name)) return undefined
  const reason = TAKEN.has(name)
    ? 'this name is one of Parley’s own agents'
    : 'its name has 1 to 64 letters, digits, hyphens, dots and underscores'
  return { key: `agents.${JSON.stringify(name).slice(0, 120)}`, value: 'an agent', reason }
}

/** In each directory it would be another program; a project’s own is asked for by its path. */
function relativeCommand(at: string, { command }: AgentTable, source: 'user' | 'project'): SettingMistake | undefined {
  if (source === 'project' || command === undefined) return undefined
  if (!command.includes('/') || command.startsWith('/')) return undefined
  return /\s/u.test(command)
    ? { key: `${at}.command`, value: 'a whole line', reason: 'it is the program alone; what follows it stands in args' }
    : {
        key: `${at}.command`,
        value: 'relative',
        reason:
          'in each directory it would be another file; write its absolute path, or a name that is looked up on PATH',
      }
}

function contradiction(at: string, { command, registry, version, args }: AgentTable): SettingMistake | undefined {
  const wrong = (key: string, reason: string): SettingMistake => ({ key: `${at}.${key}`, value: 'set', reason })
  if (command !== undefined && registry !== undefined)
    return wrong('registry', 'an agent has a command or a registry, not both')
  if (command !== undefined && version !== undefined) return wrong('version', 'it goes with a registry')
  return args !== undefined && command === undefined ? wrong('args', 'it goes with a command') : undefined
}

function entryOf(name: string, table: AgentTable): AgentEntry {
  const { env = {}, pass_env: passEnv = [], quirks: set = {}, ...more } = table
  const { idle_minutes: idleMinutes, max_memory_mb: maxMemoryMb, stall_minutes: stallMinutes, ...others } = more
  return {
    name,
    ...(without(others) as Omit<AgentEntry, 'name' | 'env' | 'passEnv' | 'quirks'>),
    env,
    passEnv,
    quirks: without(set),
    ...(idleMinutes !== undefined && { idleMinutes }),
    ...(maxMemoryMb !== undefined && { maxMemoryMb }),
    ...(stallMinutes !== undefined && { stallMinutes }),
  }
}

function without(table: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined))
}
