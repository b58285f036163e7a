/** `parley agents import`: conversations that a person had with an agent elsewhere become sessions, once, with the real binary. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { socketPathOf } from '../../src/config/socket.ts'
import { ask, endServers, killServer, parley, sessionsIn } from '../e2e/cli.ts'
import { serveHere } from '../e2e/hosted-server.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { RawSocket } from '../e2e/raw-socket.ts'
import type { Case } from '../fake-agent/case.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { until } from '../fixtures/process/running.ts'

endServers()

const LISTS: Case = {
  capabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {} } },
  pageSize: 2,
}

type Row = Readonly<Record<string, unknown>>

/** A user whose agent `fake` has sessions of its own; `more` goes on with the settings of the agent. */
function user(plan: Case = LISTS, more = '') {
  const home = freshDirectory()
  const [work, config] = [join(home, 'work'), join(home, 'config', 'parley')]
  for (const directory of [work, config, join(home, 'fake', 'sessions')]) mkdirSync(directory, { recursive: true })
  const fake = new FakeAgent(join(home, 'fake'), plan)
  const { command, args } = fake
  const entry = `[agents.fake]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n${more}`
  writeFileSync(join(config, 'parley.toml'), entry)
  const run = (...words: readonly string[]) => parley(words, { home, cwd: work })
  async function imported(...words: readonly string[]): Promise<readonly Row[]> {
    const { stdout } = await run('agents', 'import', 'fake', '--json', ...words)
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]))
  }
  return { fake, home, work, run, imported }
}

/** A session in the agent's own store; each line is a prompt and its answer. */
function own(fake: FakeAgent, id: string, cwd: string, ...turns: readonly (readonly [string, string])[]): void {
  writeFileSync(join(fake.home, 'sessions', `${id}.jsonl`), `${JSON.stringify({ cwd })}\n`)
  for (const [prompt, answer] of turns) fake.turnOutside(id, prompt, answer)
}

interface Imported {
  readonly agentSessionId: string
  readonly sessionId: string
}

const importedIn = (rows: readonly Row[]): readonly Imported[] =>
  rows.flatMap((row) => ('imported' in row ? (row['imported'] as Imported) : []))

test.concurrent('five are imported; twice makes no doubles, and one that was deleted stays deleted [39]', async () => {
  const { fake, home, work, run, imported } = user()
  await serveHere({ home })
  for (const n of [1, 2, 3, 4, 5]) own(fake, `own-${n}`, work, [`question ${n}`, `answer ${n}`], ['more', `more ${n}`])
  own(fake, 'never-prompted', work)
  const first = await imported('--all')
  const [deleted, ...others] = importedIn(first)
  expect(others).toHaveLength(4)
  expect(first).toContainEqual({ skipped: { agentSessionId: 'never-prompted', why: 'empty' } })
  expect(await sessionsIn({ home, cwd: work })).toHaveLength(5)
  expect(fake.processes).toEqual([])
  expect(fake.prompts).toEqual([])

  expect(await run('rm', deleted?.sessionId ?? '', '--yes')).toMatchObject({ code: 0 })
  expect(importedIn(await imported('--all'))).toEqual([])
  expect(await sessionsIn({ home, cwd: work })).toHaveLength(4)
  const standings = (await imported()).map(({ listed }) => String((listed as Row)['standing']))
  expect(standings.filter((one) => one === 'here')).toHaveLength(4)
  expect(standings).toEqual(expect.arrayContaining(['deleted', 'new']))
  // Only the session that is named itself comes back.
  const id = deleted?.agentSessionId ?? ''
  expect(importedIn(await imported(id))).toHaveLength(1)
  expect(await imported(id)).toEqual([{ skipped: { agentSessionId: id, why: 'here' } }])
})

test.concurrent('a session that is imported enters the live list at once', async () => {
  const { fake, home, work, imported } = user()
  await serveHere({ home })
  own(fake, 'own-1', work, ['a question', 'an answer'])
  await ask({ home, agent: 'guide' }, 'session/new', { cwd: work, mcpServers: [] })
  const watching = await RawSocket.open(socketPathOf(home), { notifications: ['sessions'] })
  const [{ sessionId } = { sessionId: '' }] = importedIn(await imported('--all'))
  const told = await watching.until(({ method, params }) => {
    const rows = (params?.['sessions'] ?? []) as readonly Row[]
    return method === '_parley/sessions' && rows.some((row) => row['sessionId'] === sessionId)
  })
  expect(told.params).toMatchObject({ sessions: [{ sessionId, lastSeq: expect.any(Number) }] })
  await watching.leave()
})

test.concurrent('an imported session has all that was said, says what is lost, and goes on in the agent', async () => {
  const { fake, home, work, run, imported } = user(LISTS, '[agents.fake.quirks]\nreplayLoses = ["thoughts"]\n')
  await serveHere({ home })
  own(fake, 'own-1', work, ['the first question', 'the first answer'], ['the second', 'another answer'])
  own(fake, 'elsewhere', '/somewhere/else', ['not here', 'no'])
  const rows = await imported('--cwd', '.', '--all')
  expect(rows).toEqual([{ imported: expect.objectContaining({ agentSessionId: 'own-1', turns: 2 }) }])
  const [{ sessionId: id } = { sessionId: '' }] = importedIn(rows)
  const shown = (await run('show', id)).stdout
  for (const words of ['the first question', 'the first answer', 'the second', 'another answer'])
    expect(shown).toContain(words)
  expect(shown.split('lost are thoughts')).toHaveLength(2)
  const exported = (await run('export', id, '--format', 'jsonl')).stdout
  expect(exported).toContain('"agentSessionId":"own-1"')
  expect(exported).toContain('"how":"import"')
  expect(await run('run', '--session', id, 'go on')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('echo: go on'),
  })
  expect(fake.prompts).toEqual(['go on'])
  expect(fake.received('session/new')).toEqual([])
  expect(fake.received('session/resume')).toEqual([expect.objectContaining({ sessionId: 'own-1' })])
})

test.concurrent('a session that cannot be read is not there in part, and the others are imported', async () => {
  const broken = { code: -32_603, message: 'the store is damaged' }
  const chunk = { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'half' } }
  const { fake, home, work, imported } = user({
    ...LISTS,
    on: { 'session/load': [{ if: 'own-1', moves: [{ update: chunk }, { fail: broken }] }] },
  })
  await serveHere({ home })
  own(fake, 'own-1', work, ['one', 'a'])
  own(fake, 'own-2', work, ['two', 'b'])
  const rows = await imported('--all')
  expect(rows).toContainEqual({
    skipped: { agentSessionId: 'own-1', why: 'failed', reason: expect.stringContaining('the store is damaged') },
  })
  expect(importedIn(rows)).toHaveLength(1)
  expect(await sessionsIn({ home, cwd: work })).toHaveLength(1)
})

test.concurrent('what keeps the sessions from being listed is said, and without a choice nothing is imported', async () => {
  const none = user({ capabilities: { loadSession: true } })
  const refused = await none.run('agents', 'import', 'fake')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('does not say which sessions it has') })
  const some = user()
  own(some.fake, 'own-1', some.work, ['one', 'a'])
  const listed = await some.run('agents', 'import', 'fake')
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('own-1') })
  expect(listed.stderr).toContain('nothing was imported; add --all')
  expect((await some.run('ls', '--json')).stdout).toBe('')
})

test.concurrent('what is imported says what its agent leaves out, has no secret of it, and deleting it leaves the own session [51] [54]', async () => {
  const deletes = { loadSession: true, sessionCapabilities: { list: {}, delete: {} } }
  const secret = 'sentinel-secret-1'
  const quirks = '[agents.fake.quirks]\nreplayLoses = ["thoughts", "diffs"]\n'
  const { fake, work, run, imported } = user({ capabilities: deletes }, `env = { FAKE_KEY = "${secret}" }\n${quirks}`)
  own(fake, 'own-1', work, ['one', `the key is ${secret}`])
  const [{ sessionId: id } = { sessionId: '' }] = importedIn(await imported('--all'))
  const shown = (await run('show', id)).stdout + (await run('export', id, '--format', 'jsonl')).stdout
  expect(shown).toContain('the key is [secret]')
  expect(shown).toContain('fake does not tell all of it again: lost are thoughts, the differences of files.')
  expect(shown).not.toContain(secret)
  await run('run', '--session', id, 'go on')
  await run('rm', id, '--yes')
  await run('stop')
  expect(fake.received('session/delete')).toEqual([])
  expect(fake.sessions).toEqual(['own-1'])
})

test.concurrent('an import whose server is killed has whole sessions only, and goes on where it was [39]', async () => {
  const chunk = { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'half' } }
  const { fake, home, work, run, imported } = user({
    ...LISTS,
    on: { 'session/load': [{ first: 1, name: 'load', moves: [], later: [{ update: chunk }, { gate: 'half' }] }] },
  })
  for (const n of [1, 2]) own(fake, `own-${n}`, work, [`question ${n}`, `answer ${n}`])
  const titles = async (): Promise<readonly string[]> =>
    (await sessionsIn({ home, cwd: work })).map(({ title }) => String(title)).toSorted((a, b) => a.localeCompare(b))
  const broken = run('agents', 'import', 'fake', '--all')
  await fake.until(({ mark }) => mark === 'at half')
  expect(killServer(home)).toBe(true)
  expect((await broken).code).not.toBe(0)
  await until(() => fake.processes.length === 0)
  const before = await titles()
  expect(before).toHaveLength(1)

  fake.becomes(LISTS)
  const rows = await imported('--all')
  expect(importedIn(rows)).toHaveLength(1)
  expect(before).not.toContain(importedIn(rows)[0]?.agentSessionId)
  expect(await titles()).toEqual(['own-1', 'own-2'])
})

test.concurrent('of an agent with more sessions than Parley reads, the first are listed, and that is said [38]', async () => {
  const { fake, home, work, run } = user({ ...LISTS, pageSize: 4_000 })
  await serveHere({ home })
  for (let n = 0; n < 10_001; n += 1)
    writeFileSync(join(fake.home, 'sessions', `own-${n}.jsonl`), `${JSON.stringify({ cwd: work })}\n`)
  const { stdout, stderr } = await run('agents', 'import', 'fake', '--json')
  expect(stdout.trim().split('\n')).toHaveLength(10_000)
  expect(stderr).toContain('has more sessions than these')
})
