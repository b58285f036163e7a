/** Where rules come from, and that an unreadable rule file never counts as an absent one. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { allow } from '../../config/mcp/edit-trust.ts'
import { TRUSTED_RULES, PermissionRules, trustDigest } from './permission-rules.ts'
import { removeRule, storeRule, readPermissions } from '../../config/rules/permission-tables.ts'

function place() {
  const directory = newDirectory({ 'home/': '', 'work/': '', 'parley/': '' })
  const [home, cwd, mine] = [join(directory, 'home'), join(directory, 'work'), join(directory, 'parley/parley.toml')]
  const waits: (() => void)[] = []
  const clock = { sleep: async () => waits.shift()?.() }
  const reader = new PermissionRules({ home, environment: { XDG_CONFIG_HOME: directory } }, undefined, clock)
  return { directory, home, cwd, mine, theirs: join(cwd, '.parley.toml'), stored: join(home, 'rules'), reader, waits }
}

describe('[permissions]', () => {
  test.each([
    ['text', 'permissions'],
    [{ permit: [] }, 'permissions.permit'],
    [{ allow: { tool: 'x' } }, 'permissions.allow'],
    [{ allow: ['x'] }, 'permissions.allow[0]'],
    [{ allow: [{}] }, 'permissions.allow[0]'],
    [{ deny: [{ tool: 'x' }, { paths: 'x' }] }, 'permissions.deny[1].paths'],
    [{ deny: [{ tool: 7 }] }, 'permissions.deny[0].tool'],
    [{ deny: [{ tool: '' }] }, 'permissions.deny[0].tool'],
    [{ deny: [{ command: 'a\nb' }] }, 'permissions.deny[0].command'],
    [{ deny: [{ path: '[ab].txt' }] }, 'permissions.deny[0].path'],
    [{ deny: [{ path: '!x' }] }, 'permissions.deny[0].path'],
    [{ deny: [{ path: 'a/../../b' }] }, 'permissions.deny[0].path'],
    [{ deny: [{ host: 'https://example.org' }] }, 'permissions.deny[0].host'],
    [{ allow: [{ tool: 'x', definition: 'parley' }] }, 'permissions.allow[0].definition'],
  ])('%j is refused at %s', (permissions, key) => {
    expect(readPermissions(permissions, 'user').faults.map((fault) => fault.key)).toEqual([key])
  })

  test('is parsed rule by rule', () => {
    const permissions = { allow: [{ tool: 'x' }, { tool: 1 }], deny: [{ path: '.env*' }] }
    const { rules, faults } = readPermissions(permissions, 'user')
    expect(rules).toEqual([
      { effect: 'allow', subject: { tool: 'x' } },
      { effect: 'deny', subject: { path: '.env*' } },
    ])
    expect(faults).toHaveLength(1)
  })
})

describe('the rules of a directory', () => {
  test('are none without files', async () => {
    const { reader, cwd } = place()
    expect(await reader.find(cwd)).toEqual({ cwd, rules: [], broken: [] })
  })

  test('are those of the user, those of the project, and the stored ones', async () => {
    const { reader, cwd, home, mine, theirs, directory } = place()
    writeFileSync(mine, '[permissions]\nallow = [{ tool = "a" }]\n')
    writeFileSync(theirs, '[permissions]\nask = [{ tool = "b" }]\n')
    storeRule(home, { effect: 'allow', subject: { tool: 'c' }, project: cwd })
    storeRule(home, { effect: 'deny', subject: { tool: 'd' }, project: null })
    storeRule(home, { effect: 'allow', subject: { tool: 'e' }, project: join(cwd, 'sub') })
    const link = join(directory, 'link')
    symlinkSync(cwd, link)
    for (const path of [cwd, link]) {
      const { rules } = await reader.find(path)
      const read = rules.map(({ effect, subject, from }) => `${effect} ${subject.tool} ${from}`)
      expect(read.toSorted()).toEqual(['allow a user', 'allow c stored', 'ask b project', 'deny d stored'])
    }
  })

  test('of a project that allow wait for consent to exactly these, in this file', async () => {
    const { reader, cwd, home, theirs } = place()
    const standings = async () => (await reader.find(cwd)).rules.map(({ effect, standing }) => `${effect} ${standing}`)
    writeFileSync(theirs, '[permissions]\nallow = [{ tool = "a" }]\ndeny = [{ tool = "b" }]\n')
    expect(await standings()).toEqual(['allow waiting', 'deny active'])
    allow(home, trustDigest(theirs, (await reader.find(cwd)).rules), { file: theirs, name: TRUSTED_RULES })
    expect(await standings()).toEqual(['allow active', 'deny active'])
    writeFileSync(theirs, '[permissions]\nallow = [{ tool = "a" }]\n')
    expect(await standings()).toEqual(['allow active'])
    writeFileSync(theirs, '[permissions]\nallow = [{ tool = "a" }, { tool = "c" }]\n')
    expect(await standings()).toEqual(['allow waiting', 'allow waiting'])
  })

  test.each<[string, (file: string) => void]>([
    ['is truncated by an editor', (file) => writeFileSync(file, '')],
    ['is half written', (file) => writeFileSync(file, '[permissions]\nallow = [{ tool = "a" }]\ndeny = [{ to')],
    ['cannot be read', (file) => (rmSync(file), mkdirSync(file))],
    ['has a mistake in its rule', (file) => writeFileSync(file, '[permissions]\ndeny = [{ tol = "b" }]\n')],
  ])('that deny and ask hold while their file %s, and those that allow do not', async (_what, breakIt) => {
    const { reader, cwd, mine } = place()
    const found = async () => {
      const { rules, broken } = await reader.find(cwd)
      return [rules.map(({ effect, subject }) => `${effect} ${subject.tool}`), broken.length]
    }
    const all = 'allow = [{ tool = "a" }]\ndeny = [{ tool = "b" }]\nask = [{ tool = "c" }]\n'
    writeFileSync(mine, `[permissions]\n${all}`)
    expect(await found()).toEqual([['allow a', 'deny b', 'ask c'], 0])
    breakIt(mine)
    for (const _again of [1, 2]) expect(await found()).toEqual([['deny b', 'ask c'], 1])
    rmSync(mine, { recursive: true })
    expect(await found()).toEqual([[], 0])
    writeFileSync(mine, '')
    expect(await found()).toEqual([[], 0])
  })

  test.each<[string, (file: string) => void, (file: string, text: string) => void]>([
    ['renamed away and written anew', (file) => renameSync(file, `${file}~`), writeFileSync],
    ['written in two pieces', (file) => writeFileSync(file, '[permissions]\n'), writeFileSync],
    ['renamed away, then empty', (file) => renameSync(file, `${file}~`), (file) => writeFileSync(file, '')],
  ])('that deny hold while an editor saves their file: it is %s', async (_what, begin, go) => {
    const { reader, cwd, mine, waits } = place()
    const found = async () => (await reader.find(cwd)).rules.map(({ effect, subject }) => `${effect} ${subject.tool}`)
    const text = '[permissions]\ndeny = [{ tool = "b" }]\n'
    writeFileSync(mine, text)
    expect(await found()).toEqual(['deny b'])
    begin(mine)
    waits.push(() => go(mine, text))
    expect(await found()).toEqual(['deny b'])
    expect(waits).toEqual([])
    writeFileSync(mine, '# none any longer\n')
    expect(await found()).toEqual([])
  })

  test('are not duplicated when stored twice, and can be removed', async () => {
    const { reader, cwd, home } = place()
    const rule = { effect: 'allow', subject: { tool: 'a', command: 'npm test' }, project: cwd } as const
    const { id } = storeRule(home, rule)
    expect(storeRule(home, { ...rule, subject: { command: 'npm test', tool: 'a' } }).id).toBe(id)
    expect((await reader.find(cwd)).rules).toHaveLength(1)
    expect([removeRule(home, id), removeRule(home, id)]).toEqual([true, false])
    expect((await reader.find(cwd)).rules).toEqual([])
  })

  test.each<[string, (at: ReturnType<typeof place>) => void]>([
    ['a file that is no TOML', ({ mine }) => writeFileSync(mine, 'permissions = [')],
    ['a rule that cannot be', ({ theirs }) => writeFileSync(theirs, '[permissions]\ndeny = [{ pth = "x" }]\n')],
    ['a directory in its place', ({ theirs }) => mkdirSync(theirs)],
    ['a pipe without a writer', ({ theirs }) => void execFileSync('mkfifo', [theirs])],
    ['a giant', ({ theirs }) => writeFileSync(theirs, `# ${'x'.repeat(2 ** 20)}`)],
    ['a link in a circle', ({ theirs }) => symlinkSync(theirs, theirs)],
    [
      'a stored file that is no rule',
      ({ stored }) => (mkdirSync(stored), writeFileSync(join(stored, 'ab.json'), '{}')),
    ],
    ['a file where the rules are stored', ({ stored }) => writeFileSync(stored, '')],
  ])('are reported as broken with %s, and the others still apply', async (_what, breakIt) => {
    const at = place()
    writeFileSync(at.mine, '[permissions]\ndeny = [{ tool = "a" }]\n')
    breakIt(at)
    const { rules, broken } = await at.reader.find(at.cwd)
    expect(broken).toHaveLength(1)
    if (!broken[0]?.includes(at.mine)) expect(rules).toMatchObject([{ effect: 'deny' }])
  })
})

test('a project has at most 100 rules; with more, the rules count as broken, so that calls need permission', () => {
  const many = Array.from({ length: 3_000 }, (_, at) => ({ path: `a${at}` }))
  const heavy = [{ path: `${'*a'.repeat(9)}b` }, { path: '**/*.key' }]
  const told = { key: 'permissions', reason: expect.stringContaining('at most 100 rules') }
  for (const [deny, count] of [
    [many, 100],
    [heavy, 1],
  ] as const) {
    const { rules, faults } = readPermissions({ deny }, 'project')
    expect([rules.length, faults]).toEqual([count, [expect.objectContaining(told)]])
    expect(readPermissions({ deny }, 'user')).toMatchObject({ rules: deny.map((subject) => ({ subject })), faults: [] })
  }
})
