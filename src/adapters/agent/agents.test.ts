/** Agents by their names: which names are valid, and how an agent follows a script that changes. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import type { AgentSession, Agents, Turn } from '../../ports/agent.ts'
import { modelsOf } from '../../../test/model/puppet-model.ts'
import { TestClock } from '../../../test/sim/clock.ts'
import { systemClock } from '../clock.ts'
import { openAgents } from './agents.ts'

let directory: string
let path: string
let agents: Agents

beforeEach(() => {
  directory = newDirectory({ 'script.jsonl': '{"end": "refusal"}\n' })
  path = join(directory, 'script.jsonl')
  agents = openAgents(options())
})

const options = () => ({
  default: `script:${path}`,
  clock: systemClock,
  models: modelsOf(),
  maxSteps: 10,
  titles: false,
  promptDirectory: undefined,
})

const session: AgentSession = {
  id: 's-1',
  cwd: '/',
  roots: ['/'],
  mcpServers: [],
  variables: undefined,
  settings: { modes: null, configOptions: [] },
  isNew: false,
  promptsWaiting: 0,
  windowTokens: undefined,
  memory: undefined,
  generation: 0,
  remember: async () => undefined,
  async *pastTurns() {},
  forkable: async () => undefined,
  beginTurn: async () => false,
  notice: async () => undefined,
  showActivity: () => undefined,
  capabilitiesChanged: async () => undefined,
  update: async () => undefined,
}

const { signal } = new AbortController()
const turn = { turnId: 't1', prompt: [], signal } as Partial<Turn> as Turn

/** How a turn of this agent ends; the scripts here say nothing before that. */
async function endOf(name: string): Promise<string> {
  return (await agents.open(name, session)).run(turn)
}

test('the guide and a script can be named; a script without a file falls back to the default agent', async () => {
  expect((await agents.open('guide', session)).capabilities.commands).not.toEqual([])
  expect(await endOf(`script:${path}`)).toBe('refusal')
  expect(await endOf('script')).toBe('refusal')
})

test('a script is read again for every turn, and a change of its capabilities is sent to the session', async () => {
  let changes = 0
  const agent = await agents.open(`script:${path}`, {
    ...session,
    capabilitiesChanged: async () => void (changes += 1),
  })
  expect(await agent.run(turn)).toBe('refusal')
  const modes = { currentModeId: 'fast', availableModes: [{ id: 'fast', name: 'Fast' }] }
  await writeFile(path, `${JSON.stringify({ agent: { modes } })}\n{"end": "max_tokens"}\n`)
  expect(await agent.run(turn)).toBe('max_tokens')
  expect(agent.capabilities.settings).toEqual({ modes, configOptions: [] })
  expect(changes).toBe(1)
})

describe('an invalid agent is refused:', () => {
  test.each([
    ['', 'AGENT_UNKNOWN'],
    ['modem', 'AGENT_UNKNOWN'],
    ['script:', 'AGENT_UNKNOWN'],
    ['Guide', 'AGENT_UNKNOWN'],
    ['script:script.jsonl', 'PATH_NOT_ABSOLUTE'],
    ['script:../script.jsonl', 'PATH_NOT_ABSOLUTE'],
    ['script:/nowhere.jsonl', 'SCRIPT_UNREADABLE'],
    ['script:/nul\0.jsonl', 'SCRIPT_UNREADABLE'],
    ['script:/', 'SCRIPT_UNREADABLE'],
    ['script:/dev/zero', 'SCRIPT_UNREADABLE'],
  ])('%j', async (name, code) => {
    await expect(agents.open(name, session)).rejects.toMatchObject({ code })
    await expect(agents.check(name)).rejects.toMatchObject({ code })
  })

  test.each<[string, () => unknown]>([
    ['a pipe, which may never end', () => execFileSync('mkfifo', [join(directory, 'given')])],
    ['a file that is too large', () => writeFileSync(join(directory, 'given'), Buffer.alloc(17 * 1024 * 1024))],
  ])('%s', async (_what, make) => {
    make()
    const name = `script:${join(directory, 'given')}`
    await expect(agents.open(name, session)).rejects.toMatchObject({ code: 'SCRIPT_UNREADABLE' })
  })
})

describe('the prompt content that an agent accepts', () => {
  const text = { image: false, audio: false, embeddedContext: false }

  test('is text and links, unless the first line of its script allows more', async () => {
    expect([agents.accepts('guide'), agents.accepts(`script:${path}`)]).toEqual([text, text])
    await writeFile(path, '\n{"agent": {"promptCapabilities": {"image": true}}}\n{"end": "refusal"}\n')
    expect(agents.accepts(`script:${path}`)).toEqual({ ...text, image: true })
    expect(agents.accepts('script')).toEqual({ ...text, image: true })
  })

  test('is text and links where it is unknown', async () => {
    const pipe = join(directory, 'pipe')
    execFileSync('mkfifo', [pipe])
    await writeFile(path, '{"agent": {"promptCapabilities": {"image": "yes"}}}\n')
    for (const name of ['script:/nowhere.jsonl', 'script:/dev/zero', `script:${pipe}`, `script:${path}`])
      expect(agents.accepts(name)).toEqual(text)
  })
})

describe('a script that the user has not named', () => {
  /** Writes, opens and plays the script; returns its text and how its calls asked for permission. */
  async function played(...lines: readonly object[]) {
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const done: unknown[] = []
    const agent = await agents.open(`asked-script:${path}`, session)
    const list = () => ({ tools: [], servers: [], prompts: [] })
    await agent.run({
      ...turn,
      roots: [],
      client: { readTextFile: async () => 'secret', terminals: undefined },
      tools: { list, ready: async () => undefined, onChange: () => () => undefined },
      newToolCallId: () => 'c1',
      say: async (content: unknown) => void done.push(content),
      report: async () => undefined,
      ask: async () => ({ outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }),
      call: async ({ permission }: { readonly permission: string }) => void done.push(permission),
    } as unknown as Turn)
    return done
  }
  const call = { name: 'run_command', arguments: { command: 'true' } }

  test('needs permission for its tool calls, also after a permission request of its own', async () => {
    expect(await played({ toolCall: call })).toEqual(['policy'])
    expect(await played({ permission: { title: 'Show the weather?', toolCall: call } })).toEqual(['policy'])
  })

  test.each([
    { readFile: { path: '/etc/passwd' } },
    { writeFile: { path: '/tmp/x', content: '' } },
    { terminal: { command: 'true' } },
  ])('cannot ask the client for %j', async (line) => {
    const [kind = ''] = Object.keys(line)
    const text = `(${kind} is only done for a script that --agent or PARLEY_AGENT names)`
    expect(await played(line)).toEqual([{ type: 'text', text }])
  })

  const modes = (currentModeId: string) => ({
    agent: { modes: { currentModeId, availableModes: ['ask', 'allow-all'].map((id) => ({ id, name: id })) } },
  })
  const option = (currentValue: string) => ({
    id: 'mode',
    name: 'Mode',
    category: 'mode',
    type: 'select',
    currentValue,
    options: ['ask', 'accept-edits'].map((value) => ({ value, name: value })),
  })

  const EDITS = { config: { configId: 'mode', value: 'accept-edits' } }

  test.each([
    ['begins in', 1, [modes('allow-all')]],
    ['switches to', 2, [modes('ask'), { mode: 'allow-all' }]],
    ['begins, by an option, in', 1, [{ agent: { configOptions: [option('accept-edits')] } }]],
    ['switches, by an option, to', 3, [{ agent: { configOptions: [option('ask')] } }, { chunk: 'x' }, EDITS]],
  ])('cannot be played if it %s a mode that permits more', async (_how, line, lines) => {
    await expect(played(...lines)).rejects.toMatchObject({ code: 'SCRIPT_INVALID', details: { line } })
  })
})

test('a tool call of a script waits ten seconds for MCP servers that still connect, and is then made anyway', async () => {
  await writeFile(path, '{"toolCall": {"name": "missing", "arguments": {}}}\n')
  const clock = new TestClock()
  const called: string[] = []
  const servers = [{ name: 'silent', title: 'silent', state: 'connecting', tools: 0 }] as const
  const list = () => ({ version: 1, tools: [], resources: [], templates: [], prompts: [], servers })
  const waiting = {
    ...turn,
    tools: { list, ready: async () => list(), onChange: () => () => undefined },
    newToolCallId: () => 'c-1',
    report: async () => undefined,
    call: async ({ name }: { readonly name: string }) => void called.push(name),
  } as unknown as Turn
  const own = openAgents({ ...options(), clock })
  const ended = (await own.open(`script:${path}`, session)).run(waiting)
  await expect.poll(() => clock.isAwaited).toBe(true)
  await clock.advance(9_999)
  expect(called).toEqual([])
  await clock.advance(1)
  expect(await ended).toBe('end_turn')
  expect(called).toEqual(['missing'])
})

test('the list of models is asked for when the session has been opened, and for none that has been closed by then', async () => {
  const clock = new TestClock()
  let asked = 0
  const models = Object.assign(modelsOf(), {
    discover: async () => {
      asked += 1
      return []
    },
  })
  const own = openAgents({ ...options(), clock, models })
  await (await own.open('model:puppet:one', session)).close()
  await clock.advance(100)
  expect(asked).toBe(0)
  await own.open('model:puppet:one', session)
  await clock.advance(99)
  expect(asked).toBe(0)
  await clock.advance(1)
  expect(asked).toBe(1)
})
