/** An agent that wants a login, and one that is another version than the last time. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Stage, pacedClock, prompted } from './stage.ts'

const LOADS = { capabilities: { loadSession: true } }

const LOGIN = {
  needsLogin: true,
  authMethods: [
    { id: 'key', name: 'A key' },
    { id: 'web', name: 'A browser', type: 'agent' },
  ],
}
const needsLogin = {
  stopReason: 'error',
  error: {
    code: 'AGENT_LOGIN_NEEDED',
    message: expect.stringContaining('(A key, A browser). Type: parley agents login fake') as string,
  },
}

test.concurrent('an agent that wants a login says what to type; the session is kept, and goes on after the login [42]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...LOADS, ...LOGIN })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'one')).toMatchObject(needsLogin)
  expect(fake.prompts).toEqual([])
  writeFileSync(join(fake.home, 'logged-in'), '')
  expect(await prompted(session, reader, 'two')).toMatchObject({ stopReason: 'end_turn' })

  // Its login ends while it runs: only a fresh process would notice the next one.
  rmSync(join(fake.home, 'logged-in'))
  const [pid] = fake.processes
  expect(await prompted(session, reader, 'three')).toMatchObject(needsLogin)
  writeFileSync(join(fake.home, 'logged-in'), '')
  expect(await prompted(session, reader, 'four')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.processes).not.toContain(pid)
  expect(reader.text).toBe('echo: twoecho: four')
  const typed = reader.entries.flatMap((one) =>
    one.kind === 'message_chunk' && one.role === 'user' && one.content.type === 'text' ? [one.content.text] : [],
  )
  expect(typed).toEqual(['one', 'two', 'three', 'four'])
  expect(fake.received('authenticate')).toEqual([])
})

test.concurrent('a login that must be named in each process is named before the conversation, if the agent offers it', async () => {
  await using stage = new Stage()
  const refuses = { authenticate: [{ fail: { code: -32_603, message: 'expired' } }] }
  const fake = stage.fake({ ...LOADS, ...LOGIN }, { quirks: { authBefore: 'key' } })
  stage.fake({ ...LOADS, ...LOGIN }, { name: 'other', quirks: { authBefore: 'cached' } })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'one')).toMatchObject({ stopReason: 'end_turn' })
  const after = await stage.killed(session.id)
  expect(await prompted(after.session, after.reader, 'two')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.received('authenticate')).toEqual([{ methodId: 'key' }, { methodId: 'key' }])
  expect(after.reader.text).toBe('echo: oneecho: two')
  // One that it does not offer is left out, and a refused one is a login that is needed.
  const other = await stage.open('acp:other')
  expect(await prompted(other.session, other.reader, 'one')).toMatchObject({ stopReason: 'error' })
  rmSync(join(fake.home, 'logged-in'))
  fake.becomes({ ...LOADS, ...LOGIN, on: refuses })
  const last = await stage.killed(session.id)
  expect(await prompted(last.session, last.reader, 'three')).toMatchObject(needsLogin)
})

test.concurrent('a process that is being ended for a login gets no other prompt, however long it takes to end', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake({ ...LOADS, ...LOGIN, ignores: ['SIGTERM', 'eof'] }, { quirks: { stopWith: 'term' } })
  writeFileSync(join(fake.home, 'logged-in'), '')
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  rmSync(join(fake.home, 'logged-in'))
  expect(await prompted(session, reader, 'two')).toMatchObject(needsLogin)
  writeFileSync(join(fake.home, 'logged-in'), '')
  expect(await prompted(session, reader, 'three')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.log.filter(({ start }) => start !== undefined)).toHaveLength(2)
})

test.concurrent('another version of the agent is met anew, and treated by the row that fits it best [50]', async () => {
  const codex = (version: string) => ({
    ...LOADS,
    info: { name: '@agentclientprotocol/codex-acp', version },
    settings: { modes: { currentModeId: version, availableModes: [{ id: version, name: version }] } },
    prompts: { '*': [{ chunk: 'unexpected status 500' }] },
  })
  await using stage = new Stage()
  const fake = stage.fake(codex('1.0.0'))
  const first = await stage.open()
  // The row of that version knows nothing of errors that look like answers.
  expect(await prompted(first.session, first.reader, 'one')).toMatchObject({ stopReason: 'end_turn' })
  fake.becomes(codex('2.6.0'))
  const second = await stage.killed(first.session.id)
  expect(await prompted(second.session, second.reader, 'two')).toMatchObject({ error: { code: 'AGENT_FAILED' } })
  expect(second.session.existing.settings.modes?.currentModeId).toBe('2.6.0')
  expect(second.reader.entries.findLast(({ kind }) => kind === 'agent_session')).toMatchObject({ version: '2.6.0' })
  fake.becomes({ ...codex('1.0.0'), info: { name: 'nobody', version: '9' } })
  const third = await stage.killed(first.session.id)
  expect(await prompted(third.session, third.reader, 'three')).toMatchObject({ stopReason: 'end_turn' })
})
