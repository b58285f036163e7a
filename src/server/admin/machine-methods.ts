/** What `parley logs`, `models`, `mcp`, `rules` and `agents` do on their machine, for commands that run elsewhere. */
import { EFFECTS, SUBJECT_KEYS, isEffect } from '../../config/rules/permission-tables.ts'
import type { Config } from '../../config/settings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { McpServer } from '../../ports/tools.ts'
import type { Fields } from '../../rpc/json-rpc.ts'
import { openUserModels } from '../compose/compose.ts'
import { LogReader } from '../log/log-reader.ts'
import { Checked } from './checked-params.ts'
import { addMcp, listMcp, removeMcp, testedMcp } from './mcp-configuration.ts'
import type { LiveMcp } from './mcp-servers.ts'
import { addRule, listRules, removeStoredRule } from './rules.ts'

export type MachineMethod = `_parley/${
  | 'logs'
  | 'models'
  | `mcp/${'list' | 'test' | 'add' | 'remove'}`
  | `rules/${'list' | 'add' | 'remove'}`
  | 'agents/test'}`

interface Machine {
  readonly config: Config
  readonly clock: Pick<Clock, 'sleep' | 'setTimer'>
  /** The MCP servers of live sessions. */
  readonly live: () => LiveMcp
}

const MAX_LINES = 100_000
/** Below the limit of one message, however the lines are written. */
const MAX_CHARS = 4 * 1024 * 1024
/** A client asks again before a proxy takes it for dead. */
const MAX_WAIT_SECONDS = 20
const POLL_MS = 250
/** How long a provider may take to list its models. Milliseconds. */
const DISCOVERY_TIMEOUT_MS = 5_000
/** An agent may have to be fetched first. Milliseconds. */
const AGENT_TIMEOUT_MS = 300_000

type Methods = Readonly<Record<MachineMethod, (params: unknown) => Promise<unknown>>>

export function machineMethods({ config, clock, live }: Machine): Methods {
  return {
    '_parley/logs': async (params) => {
      const fields = new Checked('_parley/logs', params)
      const after = fields.text('after')
      const log = new LogReader(config.home, after)
      const wait = fields.count('waitSeconds', 0, MAX_WAIT_SECONDS) * 1_000
      let lines = after === undefined ? log.last(fields.count('lines', 100, MAX_LINES)) : log.next()
      for (let waited = 0; lines.length === 0 && waited < wait; waited += POLL_MS) {
        await clock.sleep(POLL_MS)
        lines = log.next()
      }
      return { lines: lastOf(lines), next: log.place }
    },
    '_parley/models': async (params) => {
      const models = await openUserModels(config, { only: new Checked('_parley/models', params).text('provider') })
      try {
        const sources = await models.discover(DISCOVERY_TIMEOUT_MS, new AbortController().signal)
        return { ...(models.preset !== undefined && { preset: models.preset }), sources }
      } finally {
        await models.close()
      }
    },
    '_parley/mcp/list': async (params) => ({
      servers: listMcp(config, directoryIn('_parley/mcp/list', params), live()),
    }),
    '_parley/mcp/test': async (params) => {
      const fields = new Checked('_parley/mcp/test', params)
      const { examine } = await import('./examine-mcp-server.ts')
      return examine(config, targetIn(config, fields), new AbortController().signal)
    },
    '_parley/mcp/add': async (params) => {
      const fields = new Checked('_parley/mcp/add', params)
      return addMcp(config, fields.required('name'), fields.table('table'))
    },
    '_parley/mcp/remove': async (params) => {
      const fields = new Checked('_parley/mcp/remove', params)
      return removeMcp(config, fields.required('name'), fields.directory('cwd'))
    },
    '_parley/rules/list': async (params) => {
      const fields = new Checked('_parley/rules/list', params)
      return listRules(config, fields.directory('cwd'), fields.text('sessionId'))
    },
    '_parley/rules/add': async (params) => {
      const fields = new Checked('_parley/rules/add', params)
      const effect = fields.required('effect')
      if (!isEffect(effect)) return fields.refuse(`effect must be one of ${EFFECTS.join(', ')}`)
      const cwd = fields.text('cwd') === undefined ? undefined : fields.directory('cwd')
      return addRule(config, { effect, subject: subjectIn(fields.table('subject')), cwd })
    },
    '_parley/rules/remove': async (params) => {
      const fields = new Checked('_parley/rules/remove', params)
      return { removed: await removeStoredRule(config, fields.required('id'), fields.directory('cwd')) }
    },
    '_parley/agents/test': async (params) => {
      const fields = new Checked('_parley/agents/test', params)
      const [agent, prompts] = [fields.required('agent'), fields.flag('prompts')]
      const { testAgent } = await import('../agents/test-agent.ts')
      const { openAgentTools } = await import('../compose/agent-catalogue.ts')
      const tools = openAgentTools(config)
      const limit = new AbortController()
      const timer = clock.setTimer(AGENT_TIMEOUT_MS, () => limit.abort())
      try {
        return await testAgent(agent, tools, {
          cwd: config.home,
          signal: limit.signal,
          prompts,
        })
      } finally {
        timer.cancel()
        await tools.close()
      }
    },
  }
}

function directoryIn(method: string, params: unknown): string {
  return new Checked(method, params).directory('cwd')
}

/** A client that wants more asks for fewer lines, and then for what followed. */
function lastOf(lines: readonly string[]): readonly string[] {
  let chars = 0
  let from = lines.length
  while (from > 0 && (chars += lines[from - 1]?.length ?? 0) <= MAX_CHARS) from -= 1
  return lines.slice(from)
}

function targetIn(config: Config, fields: Checked): McpServer {
  const [name, url, command] = [fields.text('name'), fields.text('url'), fields.text('command')]
  if ([name, url, command].filter((one) => one !== undefined).length !== 1)
    return fields.refuse('one of name, url and command must be a text')
  if (url !== undefined && !(/^https?:\/\//u.test(url) && URL.canParse(url)))
    return fields.refuse('url must be an http or https URL')
  const more = { args: fields.texts('args'), sse: fields.flag('sse'), headers: fields.strings('headers') }
  return testedMcp(config, { name, url, command, ...more, cwd: fields.directory('cwd') })
}

function subjectIn(subject: Fields) {
  const named = SUBJECT_KEYS.map((key) => [key, subject[key]] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}
