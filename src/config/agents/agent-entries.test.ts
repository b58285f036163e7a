/** `[agents.NAME]`: its keys, the errors of invalid ones, and the consent that a project's agent needs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { SAFE } from '../../adapters/agent/external/quirks.ts'
import { allow } from '../mcp/edit-trust.ts'
import { quirkFields, readAgents } from './agent-entries.ts'
import { readAgentFiles, startable } from './agent-files.ts'

const top = newDirectory({ 'home/': '', 'project/': '' })

test('an entry can have every key', () => {
  const kept = {
    command: '/opt/mine',
    args: ['acp', '--key', '${KEY}'],
    env: { A: '${KEY:-b}' },
    mode: 'plan',
    options: { model: 'large', fast: true },
    mcp: 'pass',
    warm: true,
    quirks: { lateMs: 300, notFound: [{ code: -32_603, text: 'no such' }] },
  }
  const [read] = readAgents({ mine: { ...kept, pass_env: ['MINE_*'], idle_minutes: 2 } }, 'user')
  expect(read).toEqual({ entry: { ...kept, name: 'mine', passEnv: ['MINE_*'], idleMinutes: 2 } })
})

describe('an invalid entry is refused with its key', () => {
  test.each([
    [{ command: 'a', registry: 'b' }, 'agents.a.registry', 'not both'],
    [{ command: './a' }, 'agents.a.command', 'absolute path'],
    [{ args: ['x'] }, 'agents.a.args', 'goes with a command'],
    [{ registry: 'b', version: 'latest' }, 'agents.a.version', 'an exact version'],
    [{ command: 'a', idle_minutes: 0 }, 'agents.a.idle_minutes', 'above 0'],
    [{ command: 'a', quirks: { lateMS: 1 } }, 'agents.a.quirks.lateMS', 'perhaps lateMs is meant'],
    [{ command: 'a', pass_env: ['A B'] }, 'agents.a.pass_env', 'names of variables'],
    [{ comand: 'a' }, 'agents.a.comand', 'perhaps command is meant'],
  ])('%j', (table, key, reason) => {
    expect(readAgents({ a: table }, 'user')).toEqual([
      { name: 'a', fault: expect.objectContaining({ key, reason: expect.stringContaining(reason) }) },
    ])
  })

  test('a reserved name', () => {
    expect(readAgents({ model: { command: 'a' } }, 'user')).toMatchObject([{ fault: { reason: expect.any(String) } }])
  })
})

test('every quirk can be set in a file', () => {
  const optional = ['clientInfo', 'authBefore']
  expect(Object.keys(quirkFields).toSorted()).toEqual([...Object.keys(SAFE), ...optional].toSorted())
})

describe('an agent of a project', () => {
  const [home, cwd] = [join(top, 'home'), join(top, 'project')]
  const environment = { XDG_CONFIG_HOME: join(top, 'config'), KEY: 'secret' }
  const file = join(cwd, '.parley.toml')
  const read = () => readAgentFiles({ home, environment }, cwd).agents[0] ?? expect.fail('it was not found')

  test('waits for consent, and again when it has changed', () => {
    writeFileSync(file, '[agents.theirs]\ncommand = "./agent"\nargs = ["${KEY}"]\n')
    const first = read()
    const refusal = startable(first, environment)
    expect(refusal).toEqual({
      refused: expect.stringMatching(/^the \.parley\.toml .*parley agents trust theirs/u),
      why: expect.stringContaining(`${file} names it`),
    })
    allow(home, first.digest, { file, name: 'theirs' })
    expect(startable(read(), environment)).toMatchObject({ entry: { command: './agent', args: ['secret'] } })
    writeFileSync(file, '[agents.theirs]\ncommand = "./agent"\nargs = ["-x", "${KEY}"]\n')
    expect(read()).toMatchObject({ standing: 'waiting' })
  })

  test('that needs a variable which is not set names it to the user alone', () => {
    writeFileSync(file, '[agents.theirs]\ncommand = "a"\nenv = { A = "${OTHER}" }\n')
    expect(startable({ ...read(), standing: 'active' }, environment)).toEqual({
      refused: expect.not.stringMatching(/OTHER|toml/u),
      why: `${file} needs \${OTHER}, which the environment of the server does not have`,
    })
  })
})
