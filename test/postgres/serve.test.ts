/** A cluster as its users have it: commands, settings, copies. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Cli, endServers, parley } from '../e2e/cli.ts'
import { freshDirectory, scriptAgent } from '../e2e/parley.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer
let env: Readonly<Record<string, string>>
/** The directory of all sessions, which all nodes have. */
let cwd: string

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

beforeEach(async () => {
  env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
  cwd = freshDirectory()
  const made = await parley(['cluster', 'init', '--json'], { home: freshDirectory(), env })
  expect(made).toMatchObject({ code: 0, stderr: '' })
})

/** A machine of its own: a state directory and a name. */
function machine(name: string, agent = 'guide') {
  const home = join(freshDirectory(), 'home')
  return { home, cwd, agent, env: { ...env, PARLEY_NODE: name } }
}

type Machine = ReturnType<typeof machine>

async function json(args: readonly string[], run: Machine): Promise<readonly Record<string, unknown>[]> {
  const { code, stdout, stderr } = await parley([...args, '--json'], run)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('a cluster', () => {
  test('is served by all of its nodes, whose commands see the same sessions', async () => {
    const [one, two] = [machine('one', await scriptAgent(cwd, [{ chunk: 'Part {n}. ', times: 3 }])), machine('two')]
    for (const node of [one, two]) await new Cli(['serve'], node).until('listens on')
    const again = await parley(['serve'], one)
    expect([again.code, again.stderr]).toEqual([75, expect.stringMatching(/^parley: Another Parley .* owns .*\n$/u)])
    const nodes = await json(['cluster', 'status'], two)
    expect(nodes.map(({ name, isDraining }) => [name, isDraining])).toEqual([
      ['one', false],
      ['two', false],
    ])
    expect(await parley(['run', 'Talk to me'], one)).toMatchObject({ code: 0 })
    const [listed] = await json(['ls'], two)
    const id = String(listed?.['sessionId'])
    // Over the node that has the session.
    expect(await parley(['run', '--session', id, 'Are you there?'], two)).toMatchObject({ code: 0 })
    const shown = await parley(['show', id], one)
    expect(shown.stdout).toContain('Are you there?')
    // A node writes its figures beside its heartbeats.
    const status = async (): Promise<string> => (await parley(['cluster', 'status'], two)).stdout
    await expect.poll(status).toMatch(/^NODE +STATE +SESSIONS +APPENDS p50, p99 .*\none +serves +\d.* ms, .* ms +all /u)
    const whole = await status()
    expect(whole).toContain('\n  disk: what was acknowledged is on the disk of the primary\n')
    expect(whole).toMatch(/\n {2}1 session stored, 0\.\d MB\n$/u)
    // A stop in order leaves the session to the other one.
    await parley(['stop'], one)
    expect(await parley(['run', '--session', id, 'And now?'], two)).toMatchObject({ code: 0 })
    expect((await json(['cluster', 'status'], two)).map(({ name }) => name)).toEqual(['two'])
  })

  test('takes in the sessions and the clients of one machine, and gives them back', async () => {
    const alone = { home: join(freshDirectory(), 'home'), cwd, agent: 'guide', env: {} }
    const made = await parley(['run', '--embedded', 'How does a session survive a crash?'], alone)
    expect(made.code).toBe(0)
    const before = await parley(['ls', '--json'], alone)
    expect(await parley(['token', 'add', 'laptop', '--role', 'read'], alone)).toMatchObject({ code: 0 })
    const node = machine('one')
    const given = ['cluster', 'import', '--from', alone.home]
    expect(await json(given, node)).toMatchObject([{ sessions: 1, skipped: 0, credentials: 1 }])
    expect(await json(given, node)).toMatchObject([{ sessions: 0, skipped: 1, credentials: 0 }])
    expect((await parley(['ls', '--json'], node)).stdout).toBe(before.stdout)
    const [{ sessionId } = {}] = await json(['ls'], node)
    expect(await parley(['run', '--session', String(sessionId), 'And then?'], node)).toMatchObject({ code: 0 })
    await parley(['stop'], node)
    const back = { ...alone, home: join(freshDirectory(), 'home') }
    expect(await json(['cluster', 'export', back.home], node)).toMatchObject([{ sessions: 1, credentials: 1 }])
    for (const run of [node, back]) expect((await parley(['token', 'ls'], run)).stdout).toMatch(/^laptop .*read/mu)
    const [here, there] = [
      await parley(['show', String(sessionId)], back),
      await parley(['show', String(sessionId)], node),
    ]
    expect(here.stdout).toBe(there.stdout)
    expect(here.stdout).toContain('And then?')
  })

  test('says what an acknowledgement means, and refuses a server where it means too little', async () => {
    const [database] = await json(['cluster', 'check'], machine('one'))
    expect(database).toMatchObject({
      durability: 'disk',
      warnings: expect.arrayContaining([expect.stringContaining('no synchronous standby')]) as unknown,
    })
    const strict = { ...machine('two'), env: { ...env, PARLEY_CLUSTER_MIN_DURABILITY: 'replicated' } }
    const [checked, served, examined] = [
      await parley(['cluster', 'check'], strict),
      await parley(['serve'], strict),
      await parley(['doctor'], strict),
    ]
    expect([checked.code, served.code, examined.code]).toEqual([1, 1, 1])
    expect(served.stderr).toContain('what it acknowledges is disk, and cluster_min_durability asks for replicated')
    for (const { stdout } of [checked, examined]) expect(stdout).toContain('cluster_min_durability asks for replicated')
    await server.set('fsync', 'off')
    const refused = await parley(['serve'], machine('two'))
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('fsync is off')
  })

  afterEach(async () => {
    await server.set('fsync', 'on')
  })
})

test('one sentence says what is wrong about the address, its role or the name of a node', async () => {
  const one = machine('taken')
  const said = async (args: readonly string[], url: string) => {
    const { code, stderr } = await parley(args, { ...machine('taken'), env: { ...one.env, PARLEY_CLUSTER: url } })
    return [code, stderr.trim()] as const
  }
  const status = ['cluster', 'status']
  expect(await said(status, server.urlOf('absent'))).toEqual([1, expect.stringContaining('refuses: database "absent"')])
  const other = server.url.replace('parley@', 'nobody@')
  expect(await said(status, other)).toEqual([1, expect.stringContaining('refuses: role "nobody" does not exist')])
  expect(await said(status, server.urlOf('template1'))).toEqual([
    1,
    expect.stringContaining('There is no Parley cluster'),
  ])
  const serving = new Cli(['serve'], one)
  await serving.until('listens on')
  expect(await said(['serve'], server.url)).toEqual([1, expect.stringContaining('Another node called taken')])
  serving.child.kill('SIGKILL')
  await serving.finished
  await new Cli(['serve'], one).until('listens on')
})

test('a password is in no output and in no log', async () => {
  const url = server.url.replace('parley@', 'parley:hush-hush@')
  const one = machine('one')
  const given = { ...one, env: { ...one.env, PARLEY_CLUSTER: url } }
  const serving = new Cli(['serve'], given)
  await serving.until('listens on')
  const outputs = [
    await parley(['cluster', 'check'], given),
    await parley(['cluster'], given),
    await parley(['doctor'], given),
  ]
  const logs = await parley(['logs'], given)
  for (const { stdout, stderr } of [...outputs, logs]) expect(stdout + stderr).not.toContain('hush-hush')
  const away = { ...one, env: { ...one.env, PARLEY_CLUSTER: 'postgres://parley:hush-hush@127.0.0.1:1/parley' } }
  const failed = await parley(['cluster', 'check'], away)
  expect(failed.code).not.toBe(0)
  expect(failed.stderr).not.toContain('hush-hush')
})
