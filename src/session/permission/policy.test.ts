/** How a call is decided: rules, modes and answers against each other, and that nothing widens them. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Grant, Rule, RuleEffect, RuleSet, RuleSubject } from '../../ports/rules.ts'
import type { Modes, PermissionModeId } from '../../ports/values/settings.ts'
import type { Tool, ToolPreview } from '../../ports/tools.ts'
import { ALWAYS_IN_PROJECT, NEVER_IN_PROJECT } from '../domain/permission-answer.ts'
import {
  grantSubjectOf,
  type ToolCallSubject,
  type PolicyContext,
  deniedBy,
  modeOf,
  decidePolicy,
  pathAccessFilterFor,
} from './policy.ts'
import { permissionOptionsFor } from './authorize.ts'

const stranger: Tool = {
  name: 'files__write',
  serverToolName: 'write',
  title: 'Write',
  description: '',
  inputSchema: {},
  server: 'files',
  builtin: false,
  readOnly: false,
  definitionHash: 'd1',
}
const own = (name: string, readOnly = false): Tool => ({
  ...stranger,
  name,
  serverToolName: name,
  server: 'parley',
  builtin: true,
  readOnly,
})
const other: ToolPreview = { kind: 'other' }
const root = '/home/ada/app'

const edit = (...paths: readonly string[]) => ({
  tool: own('edit_file'),
  preview: { kind: 'edit', paths } as ToolPreview,
})
/** A command of which nothing is known. */
const PLAIN = { effect: 'changes', extras: [], pathPatterns: [], isDeep: false } as const
const run = (line: string, signature = line, more: Partial<ToolPreview> = {}) => ({
  tool: own('run_command'),
  preview: { kind: 'execute', command: { ...PLAIN, line, approvalPrefix: signature }, ...more } as ToolPreview,
})
const fetching = (url: string) => ({ tool: own('fetch_url', true), preview: { kind: 'fetch', url } as ToolPreview })
const reading = (path: string) => ({
  tool: own('read_file', true),
  preview: { kind: 'read', paths: [path] } as ToolPreview,
})

function rule(effect: RuleEffect, subject: RuleSubject): Rule {
  return { effect, subject, origin: 'of a test' }
}

function standing(
  mode: PermissionModeId = 'ask',
  rules: readonly Rule[] = [],
  more: Partial<RuleSet & PolicyContext> = {},
): PolicyContext {
  const { grants = [], ...set } = more
  return { mode, grants, rules: { rules, roots: [root], own: ['/state'], ...set } }
}

const decision = (call: Parameters<typeof decidePolicy>[0], now: PolicyContext) => {
  const { decision, by } = decidePolicy(call, now)
  return `${decision} by ${by}`
}

test('a rule for an MCP server denies or asks for read_resource on that server, but never allows it', () => {
  const call = { tool: own('read_resource', true), preview: { kind: 'fetch', url: 'x:1', server: 'db' } as ToolPreview }
  expect(decision(call, standing('ask', [rule('deny', { server: 'd*' })]))).toBe('deny by rule')
  expect(decision(call, standing('allow-all', [rule('ask', { server: 'db' })]))).toBe('ask by rule')
  expect(decision(call, standing('ask', [rule('allow', { server: 'db' })]))).toBe('ask by tool')
  expect(decision(call, standing('ask', [rule('deny', { server: 'files' })]))).toBe('ask by tool')
  expect(decision(call, standing('ask', [rule('deny', { server: 'db', tool: 'drop' })]))).toBe('ask by tool')
})

test('an edit that was allowed without a question may not follow a link to a file that is executed later', () => {
  const pathAccess = (path: string) => pathAccessFilterFor(edit(path), standing('accept-edits').rules)
  const executed = [`${root}/.ssh/authorized_keys`, `${root}/.git/hooks/pre-commit`]
  expect(executed.map(pathAccess(`${root}/a.ts`))).toEqual(['asked', 'asked'])
  expect(executed.map(pathAccess(`${root}/.bashrc`))).toEqual([undefined, undefined])
  expect(pathAccess(`${root}/a.ts`)(`${root}/b.ts`)).toBeUndefined()
})

test('“always allow” for a tool does not cover files that are executed later', () => {
  const call = edit(`${root}/.envrc`)
  const given = { grants: [always(edit(`${root}/a.ts`))] }
  expect(decidePolicy(call, standing('ask', [], given))).toMatchObject({ decision: 'ask', eachTime: true })
  expect(decision(edit(`${root}/a.ts`), standing('ask', [], given))).toBe('allow by answer')
  expect(decision(edit(`${root}/a.ts`, `${root}/.envrc`), standing('ask', [], given))).toBe('ask by tool')
  const read = { ...reading(`${root}/.envrc`), tool: stranger }
  expect(decision(read, standing('ask', [], { grants: [always(read)] }))).toBe('allow by answer')
  expect(decision(call, standing('ask', [rule('allow', { path: '.envrc' })], given))).toBe('allow by rule')
})

describe('a mode decides', () => {
  const calls = {
    'a file is read': reading(`${root}/a.ts`),
    'a file is edited': edit(`${root}/a.ts`),
    'a file elsewhere is edited': edit('/etc/passwd'),
    'a file that begins alike is edited': edit(`${root}-2/a.ts`),
    'an edit of nothing known': edit(),
    'a command is run': run('npm test'),
    'a command that destroys is run': run('rm -rf .', 'rm -rf .', { destroys: true }),
    'a page is fetched': fetching('https://example.org/x'),
    'a stranger writes': { tool: stranger, preview: other },
    'a stranger says that it reads': {
      tool: { ...stranger, readOnly: true },
      preview: { kind: 'read' } as ToolPreview,
    },
    'a stranger says that it edits': { tool: stranger, preview: { kind: 'edit', paths: [`${root}/a`] } as ToolPreview },
    'a hook of git is edited': edit(`${root}/.git/hooks/pre-commit`),
    'the rules of the project are edited': edit(`${root}/sub/.parley.toml`),
    'the state of Parley is read': reading('/state/rules/1.json'),
    'an unknown kind': { tool: own('x', true), preview: { kind: 'teleport' } as unknown as ToolPreview },
  }
  const table: Record<keyof typeof calls, readonly [ask: string, edits: string, plan: string, all: string]> = {
    'a file is read': ['allow by tool', 'allow by tool', 'allow by tool', 'allow by mode'],
    'a file is edited': ['ask by tool', 'allow by mode', 'deny by mode', 'allow by mode'],
    'a file elsewhere is edited': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'a file that begins alike is edited': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'an edit of nothing known': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'a command is run': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'a command that destroys is run': ['ask by tool', 'ask by tool', 'deny by mode', 'ask by tool'],
    'a page is fetched': ['ask by tool', 'ask by tool', 'ask by tool', 'allow by mode'],
    'a stranger writes': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'a stranger says that it reads': ['ask by tool', 'ask by tool', 'ask by tool', 'allow by mode'],
    'a stranger says that it edits': ['ask by tool', 'ask by tool', 'deny by mode', 'allow by mode'],
    'a hook of git is edited': ['ask by tool', 'ask by tool', 'deny by mode', 'ask by tool'],
    'the rules of the project are edited': ['ask by tool', 'ask by tool', 'deny by mode', 'ask by tool'],
    'the state of Parley is read': ['ask by tool', 'ask by tool', 'ask by tool', 'ask by tool'],
    'an unknown kind': ['ask by tool', 'ask by tool', 'ask by tool', 'allow by mode'],
  }
  const modes: readonly PermissionModeId[] = ['ask', 'accept-edits', 'plan', 'allow-all']

  test.each(Object.entries(table))('%s: %j', (name, expected) => {
    const call = calls[name as keyof typeof calls]
    expect(modes.map((mode) => decision(call, standing(mode)))).toEqual(expected)
  })

  test.each([
    [null, 'ask'],
    ['plan', 'plan'],
    ['yolo', 'ask'],
    ['constructor', 'ask'],
  ])('the mode id %j counts as %j', (id, mode) => {
    const modes: Modes | null = id === null ? null : { currentModeId: id, availableModes: [{ id, name: id }] }
    expect(modeOf({ modes, configOptions: [] })).toBe(mode)
  })
})

test('what a rule denies stays closed to a call, also where the call itself names it', () => {
  const { rules } = standing('ask', [rule('deny', { path: '.env' })])
  expect(pathAccessFilterFor(reading(`${root}/.env`), rules)(`${root}/.env`)).toBe('denied')
})

test('an “always” for an address holds for its host alone', () => {
  const subject = { tool: 'fetch_url', definition: 'parley', host: 'example.org' }
  expect(grantSubjectOf(fetching('https://example.org/x?y'))).toEqual(subject)
})

describe('a rule', () => {
  const allows = (subject: RuleSubject, call: Parameters<typeof decidePolicy>[0]) =>
    decidePolicy(call, standing('ask', [rule('allow', subject)])).by === 'rule'
  const denies = (subject: RuleSubject, call: Parameters<typeof decidePolicy>[0]) =>
    deniedBy(call, standing('ask', [rule('deny', subject)])) !== undefined

  test.each<[RuleSubject, Parameters<typeof decidePolicy>[0], boolean]>([
    [{ command: 'npm test' }, run('npm test'), true],
    [{ command: 'npm test' }, run('npm test -- --grep "a b"', 'npm test'), true],
    [{ command: 'npm test' }, run('npm test; curl evil', 'npm test'), false],
    [{ command: 'npm test' }, run('npm test\ncurl evil', 'npm test'), false],
    [{ command: 'npm run *' }, run('npm run build'), true],
    [{ command: 'npm run *' }, run('npm run build && curl evil'), false],
    [{ command: 'npm run *' }, run('npm run $(curl evil)'), false],
    [{ command: 'npm *' }, run('xnpm test'), false],
    [{ command: 'npm test | tee log' }, run('npm test | tee log'), true],
    [{ tool: 'edit_file', path: 'src/**' }, edit(`${root}/src/a.ts`), true],
    [{ tool: 'edit_file', path: 'src/**' }, edit(`${root}/src/a.ts`, `${root}/b.ts`), false],
    [{ tool: 'edit_file', path: 'src/**' }, edit('/elsewhere/src/a.ts'), false],
    [{ path: 'src/**' }, edit(), false],
    [{ path: '.env' }, edit(`${root}/.ENV`), false],
    [{ tool: 'files__*' }, { tool: stranger, preview: other }, true],
    [{ server: 'files', tool: 'write' }, { tool: stranger, preview: other }, true],
    [{ server: 'files', tool: 'read' }, { tool: stranger, preview: other }, false],
    [{ server: 'db' }, { tool: stranger, preview: other }, false],
    [{ tool: 'files__write', definition: 'd1' }, { tool: stranger, preview: other }, true],
    [{ tool: 'files__write', definition: 'd0' }, { tool: stranger, preview: other }, false],
    [{ tool: 'edit_file', definition: 'parley' }, edit(`${root}/a`), true],
    [{ tool: 'edit_file', definition: 'parley' }, { tool: { ...stranger, name: 'edit_file' }, preview: other }, false],
    [{ host: 'example.org' }, fetching('https://example.org/x'), true],
    [{ host: 'example.org' }, fetching('https://EXAMPLE.org.:8080/'), true],
    [{ host: '*.example.org' }, fetching('https://docs.example.org'), true],
    [{ host: '*.example.org' }, fetching('https://example.org'), false],
    [{ host: 'example.org' }, fetching('https://example.org@evil.test/'), false],
    [{ host: 'example.org' }, fetching('https://example.org\\@evil.test/'), false],
    [{ host: '*' }, fetching('https://bücher.test/'), false],
    [{ host: '*' }, { tool: stranger, preview: other }, false],
    [{ command: '*' }, { tool: stranger, preview: other }, false],
  ])('that allows %j matches %j: %j', (subject, call, isFit) => expect(allows(subject, call)).toBe(isFit))

  test.each<[RuleSubject, Parameters<typeof decidePolicy>[0], boolean]>([
    [{ command: 'git push' }, run('git push origin'), true],
    [{ command: 'git push' }, run('npm test && git  push', 'npm test'), true],
    [{ command: 'git push' }, run("bash -c 'git push'"), true],
    [{ command: 'git push' }, run('g"i"t pu\\sh'), true],
    [{ command: 'git push *' }, run('git push'), true],
    [{ command: ' git push ' }, run('git push origin'), true],
    [{ command: 'rm' }, run('/bin/RM x'), true],
    [{ command: 'rm' }, run('echo format'), false],
    [{ command: 'git push' }, run('git pull'), false],
    [{ path: '.env' }, edit(`${root}/a.ts`, `${root}/web/.env`), true],
    [{ path: '.env' }, reading(`${root}/.ENV`), true],
    [{ path: '.env' }, edit(`${root}/a.ts`), false],
    [{ host: 'evil.test' }, fetching('http://evil.test:80/'), true],
    [{ host: 'evil.test' }, fetching('https://example.org\\@evil.test/'), true],
    [{ host: 'evil.test' }, fetching('https://example.org/'), false],
    [{ tool: '*' }, { tool: stranger, preview: other }, true],
    [{ tool: '*', host: 'evil.test' }, { tool: stranger, preview: other }, false],
  ])('that denies %j matches %j: %j', (subject, call, isFit) => expect(denies(subject, call)).toBe(isFit))

  test('deny wins over ask, and ask over allow', () => {
    const all = [
      rule('allow', { tool: '*' }),
      rule('ask', { command: 'git push' }),
      rule('deny', { command: 'git push -f' }),
    ]
    expect(decidePolicy(run('git pull'), standing('ask', all))).toEqual({
      decision: 'allow',
      by: 'rule',
      why: 'rule “allow tool *” of a test',
    })
    expect(decidePolicy(run('git push'), standing('allow-all', all))).toMatchObject({ decision: 'ask', eachTime: true })
    expect(decidePolicy(run('git push -f'), standing('allow-all', all))).toMatchObject({ decision: 'deny', by: 'rule' })
  })

  test('every call asks when a rule file cannot be read', () => {
    const now = standing('allow-all', [rule('allow', { tool: '*' })], { broken: 'x is wrong' })
    for (const call of [reading(`${root}/a`), edit(`${root}/a`), run('ls')])
      expect(decidePolicy(call, now)).toMatchObject({ decision: 'ask', why: 'x is wrong', eachTime: true })
  })
})

describe('an answer “always”', () => {
  const ids = (call: Parameters<typeof permissionOptionsFor>[0], canAlways = true) =>
    permissionOptionsFor(call, canAlways).map(({ optionId }) => optionId)
  const whole = ['allow_once', 'allow_always', ALWAYS_IN_PROJECT, 'reject_once', 'reject_always', NEVER_IN_PROJECT]
  const notWritten = ['allow_once', 'allow_always', 'reject_once', 'reject_always']
  const once = ['allow_once', 'reject_once']

  test.each<[string, Parameters<typeof permissionOptionsFor>[0], readonly string[]]>([
    ['a tool', { tool: stranger, preview: other }, whole],
    ['a command', run('npm test'), whole],
    ['a host', fetching('https://example.org/x?key=1'), whole],
    ['several commands', run('npm test && npm run lint'), notWritten],
    ['a pattern', run('rm *.o'), notWritten],
    ['what may be a secret', run('curl -H "Authorization: Bearer abc"'), notWritten],
    ['a variable', run('API=abc npm test'), notWritten],
    ['an address with a password', run('git clone https://ada:abc@example.org/x'), notWritten],
    ['more than anyone reads', run(`echo ${'a'.repeat(200)}`), once],
    ['several lines', run('echo a\necho b'), once],
    ['letters that are not visible', run('echo \u202Ea'), once],
    ['a command that could not be read', { tool: own('run_command'), preview: { kind: 'execute' } }, once],
    ['an address whose host cannot be told', fetching('https://a@b/'), once],
  ])('is offered for %s as far as it can be stored', (_what, call, expected) => {
    expect(ids(call)).toEqual(expected)
    expect(ids(call, false)).toEqual(once)
  })

  test('allows exactly the call that was shown', () => {
    const now = standing('ask', [], { grants: [always(run('npm test'))] })
    expect(decision(run('npm test'), now)).toBe('allow by answer')
    expect(decision(run('npm test -- -u', 'npm test'), now)).toBe('allow by answer')
    expect(decision(run('npm run lint'), now)).toBe('ask by tool')
    expect(
      decision(
        { tool: { ...stranger, definitionHash: 'd2' }, preview: other },
        standing('ask', [], { grants: [always({ tool: stranger, preview: other })] }),
      ),
    ).toBe('ask by tool')
    expect(permissionOptionsFor(run('npm test'), true).map(({ name }) => name)).toEqual([
      'Allow once',
      'Always allow npm test in this session',
      'Always allow npm test in this project',
      'Reject',
      'Never allow npm test in this session',
      'Never allow npm test in this project',
    ])
  })

  test('“never” denies exactly the call that was shown, whatever rules allow', () => {
    const grants = [never(run('npm test')), always(run('npm test'))]
    const now = standing('allow-all', [rule('allow', { tool: '*' })], { grants })
    expect(decision(run('npm test'), now)).toBe('deny by answer')
    expect(decision(run('npm run lint'), now)).toBe('allow by rule')
  })

  test.each([
    run('npm test'),
    fetching('https://example.org/x'),
    { tool: stranger, preview: other },
    edit(`${root}/a`),
  ])('for the project becomes a rule that matches the call: %j', (call) => {
    const subject = grantSubjectOf(call)
    expect(decision(call, standing('ask', [rule('allow', subject)]))).toBe('allow by rule')
    expect(decision(call, standing('allow-all', [rule('deny', subject)]))).toBe('deny by rule')
  })
})

const word = fc.constantFrom(
  '*',
  'npm test',
  'src/**',
  'run_command',
  'edit_file',
  '**',
  'parley',
  'example.org',
  'rm *',
)
const subject: fc.Arbitrary<RuleSubject> = fc.record(
  { tool: word, server: word, path: word, command: word, host: word },
  { requiredKeys: [] },
)
const anyCall = fc.record({
  tool: fc
    .record({
      name: fc.constantFrom('run_command', 'edit_file', 'x__y'),
      builtin: fc.boolean(),
      readOnly: fc.boolean(),
    })
    .map((claims): Tool => Object.assign({}, stranger, claims)),
  preview: fc.record(
    {
      kind: fc.constantFrom<ToolPreview['kind']>('read', 'edit', 'execute', 'fetch', 'other', 'delete'),
      paths: fc.subarray([`${root}/src/a.ts`, '/etc/passwd']),
      command: fc.constantFrom(
        { ...PLAIN, line: 'npm test', approvalPrefix: 'npm test' },
        { ...PLAIN, line: 'rm -rf /', approvalPrefix: 'rm *' },
      ),
      url: fc.constantFrom('https://example.org/', 'nonsense'),
      destroys: fc.boolean(),
    },
    { requiredKeys: ['kind'] },
  ) satisfies fc.Arbitrary<ToolPreview>,
})
const anyMode = fc.constantFrom<PermissionModeId>('ask', 'accept-edits', 'plan', 'allow-all')

describe('a command that names Parley’s own state', () => {
  const everything = [rule('allow', { tool: '*' }), rule('allow', { command: 'cat *' })]
  const decision = (line: string, places: readonly string[], isDeep = false) => {
    const call = run(line)
    const preview = { ...call.preview, command: { ...PLAIN, line, approvalPrefix: line, pathPatterns: places, isDeep } }
    return decidePolicy({ ...call, preview }, standing('allow-all', everything, { own: ['/home/ada/.state/parley'] }))
      .decision
  }

  test.each([
    ['cat x', ['/home/ada/.state/parley/docs.key']],
    ['cat x', ['/home/ada/.s*/parley/*']],
    ['cat x', ['/home/*/.state/par*/docs.key']],
    ['cat x', ['/home/**/parley/docs.key']],
    ['cat x', ['/**/parley/docs.key']],
    ['cat x', ['/home/ada/.state/**/docs.key']],
    ['cat "/home/ada/.st"ate/parley/docs.key', []],
    [`python3 -c "print(open('/home/ada/.state/parley/docs.key').read())"`, []],
  ])('%s with %j asks the user', (line, places) => expect(decision(line, places)).toBe('ask'))

  test('a program that walks directories asks for a parent directory too', () => {
    expect(decision('grep -r key ~', ['/home/ada'], true)).toBe('ask')
    expect(decision('ls ~', ['/home/ada'])).toBe('allow')
  })

  test.each([
    ['cat a', [`${root}/a`, '/home/ada/*']],
    ['cat $X', ['/**']],
    ['cat b', ['/home/ada/.state/parley-notes', '/home/ada/.state/other/parley']],
    ['cat /home/ada/.state/parley-notes', []],
    ['./configure --prefix=/opt', []],
  ])('%s with %j does not ask', (line, places) => expect(decision(line, places)).toBe('allow'))
})

describe('a rule for a command', () => {
  const allowed = (pattern: string, line: string, extras: readonly string[]) => {
    const call = run(line)
    const preview = { ...call.preview, command: { ...PLAIN, line, approvalPrefix: line, extras } }
    return (
      decidePolicy({ ...call, preview }, standing('ask', [rule('allow', { command: pattern })])).decision === 'allow'
    )
  }

  test('does not cover an option that makes the program do more, unless the rule names it', () => {
    expect(allowed('git diff *', 'git diff --stat a', [])).toBe(true)
    expect(allowed('git diff *', 'git diff --ext-diff a', ['--ext-diff'])).toBe(false)
    expect(allowed('git diff --ext-diff *', 'git diff --ext-diff a', ['--ext-diff'])).toBe(true)
    expect(allowed('git *', 'git -c core.pager=x log', ['-c'])).toBe(false)
    expect(allowed('git -c *', 'git -c core.pager=x log', ['-c'])).toBe(true)
    expect(allowed('GIT_PAGER=* git log', 'GIT_PAGER=x git log', ['GIT_PAGER'])).toBe(true)
    expect(allowed('git diff --output=notes* *', 'git diff --output=notes.txt -w', ['--output'])).toBe(true)
    expect(allowed('*', 'GIT_PAGER=x git log', ['GIT_PAGER'])).toBe(false)
  })

  test('the decision says what the command does', () => {
    const why = (effect: 'reads' | 'changes') => {
      const call = run('ls')
      const preview = { ...call.preview, command: { ...PLAIN, line: 'ls', approvalPrefix: 'ls', effect } }
      return decidePolicy({ ...call, preview }, standing('allow-all')).why
    }
    expect([why('reads'), why('changes')]).toEqual([
      'mode allow all; it only reads',
      'mode allow all; it may change something',
    ])
  })
})

describe('in every mode, with any rules', () => {
  const everything = [{ tool: '*' }, { server: '*' }, { command: '*' }, { path: '**' }, { host: '*' }].map((one) =>
    rule('allow', one),
  )
  const allowRules = fc.array(subject.map((one) => rule('allow', one))).map((rules) => rules.concat(everything))

  test('a destructive command always asks', () => {
    fc.assert(
      fc.property(anyCall, anyMode, allowRules, ({ tool, preview }, mode, rules) => {
        const call = { tool, preview: { ...preview, destroys: true } }
        const { decision } = decidePolicy(call, standing(mode, rules, { grants: [always(call)] }))
        expect(decision).not.toBe('allow')
      }),
    )
  })

  test('a deny rule always denies, and an ask rule never allows', () => {
    fc.assert(
      fc.property(anyCall, anyMode, allowRules, (call, mode, rules) => {
        const now = (effect: RuleEffect) =>
          standing(mode, [...rules, rule(effect, { tool: call.tool.name })], { grants: [always(call)] })
        expect(decidePolicy(call, now('deny')).decision).toBe('deny')
        expect(decidePolicy(call, now('ask')).decision).not.toBe('allow')
      }),
    )
  })

  test('several commands in one line ask, even if a rule allows one of them', () => {
    fc.assert(
      fc.property(fc.constantFrom(';', '&&', '|', '\n', '`', '$(', '>'), fc.array(subject), (sign, subjects) => {
        const call = run(`npm test ${sign} evil`, 'npm test')
        const rules = subjects.filter(({ command }) => command !== undefined).map((one) => rule('allow', one))
        expect(decidePolicy(call, standing('ask', rules)).decision).toBe('ask')
      }),
    )
  })

  test('with nothing allowed, a foreign tool always asks or is refused [T6]', () => {
    fc.assert(
      fc.property(
        anyCall,
        fc.constantFrom<PermissionModeId>('ask', 'accept-edits', 'plan'),
        ({ tool, preview }, mode) => {
          expect(decidePolicy({ tool: { ...tool, builtin: false }, preview }, standing(mode)).decision).not.toBe(
            'allow',
          )
        },
      ),
    )
  })
})

function always(call: ToolCallSubject): Grant {
  return { ...grantSubjectOf(call), effect: 'allow' }
}

function never(call: ToolCallSubject): Grant {
  return { ...grantSubjectOf(call), effect: 'deny' }
}
