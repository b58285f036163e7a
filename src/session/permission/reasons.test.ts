/** The reasons that users read with a decision, the names of what they may answer, and the files that rules keep from a call. */
import { describe, expect, test } from 'vitest'
import type { Grant, Rule, RuleEffect, RuleSet, RuleSubject } from '../../ports/rules.ts'
import type { Tool, ToolPreview } from '../../ports/tools.ts'
import {
  accessOf,
  decidePolicy,
  modeOf,
  pathAccessFilterFor,
  pathAccessFilterForAgent,
  grantSubjectOf,
  type ToolCallSubject,
} from './policy.ts'
import { permissionOptionsFor } from './authorize.ts'

const root = '/home/ada/app'
const tool: Tool = {
  name: 'run',
  serverToolName: 'run',
  title: 'Run',
  description: '',
  inputSchema: {},
  server: 'parley',
  builtin: true,
  readOnly: false,
  definitionHash: 'd',
}
const stranger: Tool = {
  ...tool,
  name: 'db__drop',
  serverToolName: 'drop',
  title: 'Drop',
  server: 'db',
  builtin: false,
}
const reader: Tool = { ...tool, name: 'read', serverToolName: 'read', readOnly: true }

function call(preview: ToolPreview, of: Tool = tool): ToolCallSubject {
  return { tool: of, preview }
}

function command(line: string, more: Partial<NonNullable<ToolPreview['command']>> = {}): ToolCallSubject {
  const plain = { line, approvalPrefix: line, effect: 'changes', extras: [], pathPatterns: [], isDeep: false } as const
  return call({ kind: 'execute', command: { ...plain, ...more } })
}

const edit = (...paths: readonly string[]) => call({ kind: 'edit', paths })

function rule(effect: RuleEffect, subject: RuleSubject): Rule {
  return { effect, subject, origin: 'of a test' }
}

function rulesOf(rules: readonly Rule[], more: Partial<RuleSet> = {}): RuleSet {
  return { rules, roots: [root, '/srv/two'], own: ['/state'], ...more }
}

function decided(subject: ToolCallSubject, mode: 'ask' | 'accept-edits' | 'plan' | 'allow-all' = 'ask', more = {}) {
  return decidePolicy(subject, { mode, rules: rulesOf([]), grants: [] as readonly Grant[], ...more })
}

function granted(subject: ToolCallSubject, effect: Grant['effect']) {
  return { grants: [{ ...grantSubjectOf(subject), effect }] }
}

describe('the reason of a decision', () => {
  const fetching = call({ kind: 'fetch', url: 'https://example.org/' }, reader)

  test.each<[string, () => ReturnType<typeof decided>, string]>([
    ['nothing said', () => decided(call({ kind: 'other' }, stranger)), 'no rule or answer allows it'],
    ['a command', () => decided(command('x')), 'no rule or answer allows it; it may change something'],
    ['never', () => decided(fetching, 'ask', granted(fetching, 'deny')), 'the user has said never, for this session'],
    ['always', () => decided(fetching, 'ask', granted(fetching, 'allow')), 'you, always in this session'],
    ['plan', () => decided(edit(`${root}/a`), 'plan'), 'plan mode: nothing is changed'],
    ['accept edits', () => decided(edit(`${root}/a`, '/srv/two/b'), 'accept-edits'), 'mode accept edits'],
    ['allow all', () => decided(fetching, 'allow-all'), 'mode allow all'],
    ['harmless', () => decided(call({ kind: 'read' }, reader)), 'it only reads, and is of Parley itself'],
    [
      'destroys',
      () => decided(call({ kind: 'other', destroys: true })),
      'it may destroy data that cannot be recovered',
    ],
    [
      'a destroying line',
      () => decided(command('x', { effect: 'destroys' })),
      'it may destroy data that cannot be recovered',
    ],
    ['a line that says why', () => decided(command('x', { effect: 'destroys', why: 'it formats' })), 'it formats'],
    [
      'git',
      () => decided(call({ kind: 'edit', gitReason: 'a filter' }), 'allow-all'),
      'git runs or obeys it: a filter',
    ],
    ['own state', () => decided(call({ kind: 'read', paths: ['/state/a'] }, reader)), 'it touches /state/a'],
    ['a start-up file', () => decided(edit(`${root}/.ssh/config`), 'accept-edits'), 'it is executed later by ssh'],
  ])('is named for %s', (_what, decide, words) => expect(decide().why).toBe(words))

  test('a rule is quoted as its file has it', () => {
    const rules = rulesOf([rule('ask', { server: 'db', path: 'a*' })])
    const { by, why } = decided(call({ kind: 'edit', paths: [`${root}/ab`] }, stranger), 'allow-all', { rules })
    expect([by, why]).toEqual(['rule', 'rule “ask server db path a*” of a test'])
  })

  test('names who decided: rule, tool or mode', () => {
    expect(decided(edit(`${root}/a`), 'allow-all', { rules: rulesOf([], { broken: 'x' }) })).toMatchObject({
      by: 'rule',
    })
    expect(decided(edit(`${root}/.ssh/config`))).toMatchObject({ by: 'tool', eachTime: true })
    expect(decided(edit(`${root}/.ssh/config`), 'allow-all')).toMatchObject({ decision: 'allow', by: 'mode' })
  })

  test('a mode of an agent is not a permission mode of Parley, even with the same name', () => {
    const modes = (currentModeId: string) => ({ currentModeId, availableModes: [] })
    expect(modeOf({ modes: { ...modes('allow-all'), areAgents: true }, configOptions: [] })).toBe('ask')
    for (const id of ['ask', 'accept-edits', 'plan', 'allow-all'])
      expect(modeOf({ modes: modes(id), configOptions: [] })).toBe(id)
  })
})

describe('what counts as a change', () => {
  test.each(['edit', 'delete', 'move', 'execute', 'switch_mode'] as const)('any call of kind %s', (kind) => {
    expect(decided(call({ kind }, reader), 'plan').decision).toBe('deny')
    expect(decided(call({ kind }, reader)).decision).toBe('ask')
  })

  test.each(['read', 'search', 'think', 'other'] as const)('not a call of kind %s that only reads', (kind) => {
    expect(decided(call({ kind }, reader), 'plan').decision).toBe('allow')
    expect(decided(call({ kind, destroys: true }, reader), 'plan').decision).toBe('deny')
    expect(decided(call({ kind, url: 'https://example.org/' }, reader)).decision).toBe('ask')
    const { preview } = command('x')
    expect(decided(call({ ...preview, kind }, reader)).decision).toBe('ask')
  })

  test('an edit with one path outside the roots asks', () => {
    expect(decided(edit(`${root}/a`, '/elsewhere/b'), 'accept-edits').decision).toBe('ask')
  })

  test('a command that only reads may name the rule file; another one asks', () => {
    const pathPatterns = [`${root}/a`, `${root}/.parley.toml`]
    expect(decided(command('cat x', { effect: 'reads', pathPatterns }), 'allow-all').decision).toBe('allow')
    expect(decided(command('tee x', { pathPatterns }), 'allow-all').why).toBe(`it touches ${root}/.parley.toml`)
  })

  test('Parley’s own directory is readable below a root inside it, and protected elsewhere', () => {
    const rules = rulesOf([], { roots: ['/elsewhere', '/state/work'], own: ['/state'] })
    const within = (path: string) =>
      decided(command('cat x', { pathPatterns: [path] }), 'allow-all', { rules }).decision
    expect([within('/state/work/a'), within('/state/key')]).toEqual(['allow', 'ask'])
    expect(decided(command('cat /state/work/a'), 'allow-all', { rules }).decision).toBe('allow')
    const itself = rulesOf([], { roots: ['/state'], own: ['/state'] })
    expect(decided(command('cat /state/key'), 'allow-all', { rules: itself }).decision).toBe('ask')
    expect(decided(command('/state'), 'allow-all').decision).toBe('ask')
  })
})

test.each<[RuleSubject, ToolCallSubject, boolean]>([
  [{ command: 'git push *' }, command('git pull'), false],
  [{ command: 'git rm' }, command('git /bin/rm'), false],
  [{ command: 'rm' }, call({ kind: 'edit' }), false],
  [{ server: 'db', definition: 'x' }, call({ kind: 'fetch', server: 'db' }), false],
  [{ server: 'db' }, call({ kind: 'fetch', server: 'db' }), true],
  [{ tool: 'x' }, call({ kind: 'fetch', server: 'db' }), false],
  [{ server: 'db' }, call({ kind: 'fetch' }), false],
])('a rule that denies %j, and %j: %j', (subject, denied, isDenied) => {
  const { decision } = decided(denied, 'allow-all', { rules: rulesOf([rule('deny', subject)]) })
  expect(decision === 'deny').toBe(isDenied)
})

describe('the options of a permission request', () => {
  const named = (subject: ToolCallSubject) => permissionOptionsFor(subject, true).map(({ name }) => name)

  test('have ids, names and kinds that agree', () => {
    expect(permissionOptionsFor(call({ kind: 'other' }, stranger), true)).toEqual([
      { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'allow_always', name: 'Always allow Drop (db) in this session', kind: 'allow_always' },
      { optionId: 'allow_always_project', name: 'Always allow Drop (db) in this project', kind: 'allow_always' },
      { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
      { optionId: 'reject_always', name: 'Never allow Drop (db) in this session', kind: 'reject_always' },
      { optionId: 'reject_always_project', name: 'Never allow Drop (db) in this project', kind: 'reject_always' },
    ])
  })

  test('name the host, and the title of a foreign tool in one short line', () => {
    expect(named(call({ kind: 'fetch', url: 'http://Example.org:8080/x' }, reader))).toContain(
      'Always allow Run from example.org in this session',
    )
    expect(named(call({ kind: 'fetch', url: 'https://[::1]/x' }, reader))[1]).toContain('from [::1] in')
    const long = { ...stranger, title: `a\n\n\u202E b${'x'.repeat(200)}` }
    expect(named(call({ kind: 'other' }, long))[1]).toBe(`Always allow a b${'x'.repeat(116)}… in this session`)
    const fits = { ...tool, title: 'x'.repeat(120) }
    expect(named(call({ kind: 'other' }, fits))[1]).toBe(`Always allow ${'x'.repeat(120)} in this session`)
  })

  test.each([
    ['npm run x', 6],
    ['x'.repeat(120), 6],
    ['x'.repeat(121), 2],
    ['git clone https://a:b@example.org', 4],
    [' A1=b c', 4],
    ['ls -a=b', 6],
    ['x; y', 4],
  ])('of %s are %i', (line, count) => expect(named(command(line))).toHaveLength(count))

  test('are for one call only where a builtin tool fetches an unknown address; for a foreign tool “always” covers the tool', () => {
    expect(named(call({ kind: 'fetch' }))).toHaveLength(2)
    expect(named(call({ kind: 'execute' }, stranger))).toHaveLength(6)
    expect(named(call({ kind: 'fetch', url: 'https://auth.example.org/' }))).toHaveLength(6)
    expect(named(call({ kind: 'fetch', url: 'see https://example.org/' }))).toHaveLength(2)
  })
})

describe('files that rules protect', () => {
  const paths = [rule('deny', { path: 'secret' }), rule('ask', { path: 'private' })]
  const secret = `${root}/secret`
  const personal = `${root}/private`

  test('are denied to an agent that reads files itself', () => {
    const bar = pathAccessFilterForAgent(rulesOf(paths))
    expect([secret, personal, `${root}/a`, '/state/key'].map(bar)).toEqual(['denied', 'asked', undefined, 'own'])
  })

  test('are denied to a call, unless it named them and was allowed', () => {
    const read = (...named: readonly string[]) =>
      pathAccessFilterFor(call({ kind: 'read', paths: named }, reader), rulesOf(paths))
    expect([secret, personal, '/state/key'].map(read(`${root}/a`))).toEqual(['denied', 'asked', 'own'])
    expect([secret, personal].map(read(`${root}/a`, personal))).toEqual(['denied', undefined])
    expect(read(`${root}/a`, '/state/key')('/state/other')).toBeUndefined()
    const ofTool = rulesOf([rule('deny', { tool: 'read', path: 'secret' })])
    expect(pathAccessFilterFor(call({ kind: 'read' }, reader), ofTool)(secret)).toBe('denied')
    expect(pathAccessFilterFor(call({ kind: 'read' }, reader), rulesOf(paths))('/state/key')).toBe('own')
    const several = pathAccessFilterFor(edit(`${root}/.ssh/config`, `${root}/a`), rulesOf([]))
    expect(several(`${root}/.bashrc`)).toBeUndefined()
  })

  test.each<[string, RuleSubject, boolean]>([
    ['a path', { path: 'secret' }, true],
    ['a path of this tool', { path: 'secret', tool: 'db__drop' }, true],
    ['a path of this server', { path: 'secret', server: 'db' }, true],
    ['a path of this definition', { path: 'secret', definition: 'd' }, true],
    ['a path of another tool', { path: 'secret', tool: 'write' }, false],
    ['a path of another server', { path: 'secret', server: 'files' }, false],
    ['a path of another definition', { path: 'secret', definition: 'e' }, false],
    ['a path with a command', { path: 'secret', command: 'cat' }, false],
    ['a path with a host', { path: 'secret', host: 'example.org' }, false],
    ['no path', { tool: 'db__drop' }, false],
  ])('are those of rules with %s', (_what, subject, isKept) => {
    const kept = isKept ? ['secret'] : []
    expect(accessOf([reader, stranger], rulesOf([rule('deny', subject)]))).toMatchObject({ denied: kept, asked: [] })
    expect(accessOf([reader, stranger], rulesOf([rule('ask', subject)]))).toMatchObject({ denied: [], asked: kept })
    expect(accessOf([stranger], rulesOf([rule('allow', subject)]))).toMatchObject({ denied: [], asked: [] })
  })
})
