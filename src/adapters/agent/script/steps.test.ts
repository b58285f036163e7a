/** A script is read whole before it is played, and a line that cannot be played is named. */
import { assert, json, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isParleyError } from '../../../errors/parley-error.ts'
import { parseScript } from './steps.ts'

const parse = (...lines: readonly unknown[]) => script(...lines).steps

const script = (...lines: readonly unknown[]) =>
  parseScript('demo.jsonl', lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))

describe('a line of a script', () => {
  test('repeats a text as often as it says', () => {
    expect(parse({ chunk: 'c{n} ', times: 3, everyMs: 20 })).toEqual([
      { kind: 'chunk', text: 'c{n} ', times: 3, everyMs: 20 },
    ])
  })

  test('calls a tool by name and arguments, and reports one that it ran by itself', () => {
    const [call, report] = parse(
      { toolCall: { name: 'files__read', arguments: { path: 'a' } } },
      { toolCall: { toolCallId: 'x', title: 'Reading', kind: 'read', status: 'in_progress' } },
    )
    expect(call).toEqual({ kind: 'call', call: { name: 'files__read', args: { path: 'a' }, toolCallId: undefined } })
    expect(report).toMatchObject({
      kind: 'report',
      toolCallId: 'x',
      patch: { title: 'Reading', status: 'in_progress' },
    })
  })

  test('asks for permission with two options unless it names its own', () => {
    const [plain, own] = parse(
      { permission: { title: 'Go on?' } },
      { permission: { title: 'Go on?', options: [{ optionId: 'yes', kind: 'allow_always' }] } },
    )
    expect(plain).toMatchObject({ permission: { options: [{ kind: 'allow_once' }, { kind: 'reject_once' }] } })
    expect(own).toMatchObject({ permission: { options: [{ optionId: 'yes', name: 'yes', kind: 'allow_always' }] } })
  })

  test('runs the tool call that it asked about once that is allowed', () => {
    const [step] = parse({ permission: { toolCall: { name: 'rm', arguments: {} } } })
    expect(step).toMatchObject({ permission: { patch: { title: 'rm' }, call: { name: 'rm' } } })
  })

  test('may be empty', () =>
    expect(parse('', { end: 'refusal' }, '  ')).toEqual([{ kind: 'end', stopReason: 'refusal' }]))
})

const COMMAND = { command: 'ls', args: ['-l'], env: { A: 'b' }, cwd: '/', outputByteLimit: 9 }
const FORM = { message: 'Who?', schema: { type: 'object' } }
const PAGE = { message: 'Go', url: 'https://example.com' }

const UNPLAYABLE: readonly (readonly [what: string, line: unknown])[] = [
  ['what is not JSON', '{"chunk":'],
  ['what is not an object', '[1]'],
  ['none of the known keys', { shout: 'hey' }],
  ['a chunk that is no text', { chunk: 7 }],
  ['a number below 0', { chunk: 'a', times: -1 }],
  ['an unknown reason for the end', { end: 'bored' }],
  ['an unknown kind of answer', { permission: { options: [{ optionId: 'a', kind: 'maybe' }] } }],
  ['a chunk of a picture without its kind', { chunk: { type: 'image', data: 'AA==' } }],
  ['a usage without a size', { usage: { used: 1 } }],
  ['half a token', { usage: { used: 1.5, size: 2 } }],
  ['a command without a description', { commands: [{ name: 'plan' }] }],
  ['a notice without words', { notice: { severity: 'info', title: '' } }],
  ['a summary before its end', { compaction: { status: 'in_progress', summary: ['x'] } }],
  ['an error of what was completed', { compaction: { status: 'completed', error: 'x' } }],
  ['an unknown status of a compaction', { compaction: { status: 'done' } }],
  ['a file that is no object', { readFile: '/a' }],
  ['a line before the first', { readFile: { path: '/a', line: -1 } }],
  ['an encoding', { readFile: { path: '/a', encoding: 'utf8' } }],
  ['nothing to write', { writeFile: { path: '/a' } }],
  ['arguments without a command', { terminal: { args: [] } }],
  ['arguments that are no list', { terminal: { command: 'ls', args: 'all' } }],
  ['a variable that is no text', { terminal: { command: 'ls', env: { A: 1 } } }],
  ['neither a form nor a page', { elicit: { message: 'Who?' } }],
  ['a form without a question', { elicit: { schema: {} } }],
  ['a page that may be complete', { elicit: { message: 'Go', url: 'https://example.com', complete: 'yes' } }],
]

describe('a line that cannot be played', () => {
  test.each(UNPLAYABLE)('with %s is refused with its line number', (_what, line) => {
    expect(() => parse({ chunk: 'fine' }, line)).toThrow(/^Line 2 of the script demo\.jsonl is invalid: /)
  })

  test('never throws another error', () => {
    assert(
      property(oneof(string(), json()), (text) => {
        try {
          parseScript('any', text)
        } catch (error) {
          expect(isParleyError(error, 'SCRIPT_INVALID')).toBe(true)
        }
      }),
    )
  })
})

describe('the first line', () => {
  const ask = { id: 'ask', name: 'Ask' }
  const modes = { currentModeId: 'ask', availableModes: [ask] }
  const pick = {
    id: 'model',
    name: 'Model',
    type: 'select',
    currentValue: 'a',
    options: [{ group: 'g', name: 'G', options: [{ value: 'a', name: 'A' }] }],
  }
  const loud = { id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }
  const agent = { modes, configOptions: [pick, loud], promptCapabilities: { image: true } }

  test('may have the capabilities of the agent; the steps come after it', () => {
    const { offer, steps } = script({ agent }, { mode: 'ask' }, { config: { configId: 'loud', value: true } })
    expect(offer).toEqual({
      modes,
      configOptions: [pick, loud],
      accepts: { image: true, audio: false, embeddedContext: false },
    })
    expect(steps.map(({ kind }) => kind)).toEqual(['mode', 'config'])
  })

  test.each([
    ['a current mode that is none of the modes', { modes: { ...modes, currentModeId: 'fly' } }],
    ['a mode without a name', { modes: { ...modes, availableModes: [{ id: 'ask' }] } }],
    ['the same mode twice', { modes: { ...modes, availableModes: [ask, ask] } }],
    ['a value that is not among the choices', { configOptions: [{ ...pick, currentValue: 'b' }] }],
    ['a toggle that is no toggle', { configOptions: [{ ...loud, currentValue: 'off' }] }],
    ['an option of no known type', { configOptions: [{ ...loud, type: 'colour' }] }],
    ['a field that ACP does not have', { voice: 'low' }],
  ])('is refused with %s', (_name, offered) => {
    expect(() => script({ agent: offered })).toThrow(/^Line 1 of the script demo\.jsonl is invalid: /)
  })

  test.each([
    ['sets a mode that the agent does not offer', { mode: 'fly' }],
    ['sets an option that the agent does not offer', { config: { configId: 'colour', value: 'red' } }],
    ['sets an option to what it cannot be', { config: { configId: 'model', value: 'b' } }],
    ['offers something else', { agent: {} }],
  ])('makes a step invalid that %s', (_name, step) => {
    expect(() => script({ agent }, step)).toThrow(/^Line 2 of /)
  })
})

describe('a tool call that is only reported', () => {
  const NO_RESOURCE = { type: 'resource', resource: { uri: 'u' } }
  const report = (fields: object) => parse({ toolCall: { title: 'Edits', ...fields } })

  test('may have content of every kind, locations and raw values', () => {
    const text = { type: 'text', text: 'x', annotations: { audience: ['user'] } }
    const content = [
      { type: 'content', content: { ...text, _meta: { k: 1 } } },
      { type: 'diff', path: '/a', oldText: null, newText: 'b' },
      { type: 'terminal', terminalId: 't-1' },
    ]
    const patch = { kind: 'edit', status: 'pending', content, locations: [{ path: '/a', line: 1 }], rawInput: [1] }
    const [words, ...others] = content
    const within = [{ ...words, content: { ...text, meta: { k: 1 } } }, ...others]
    expect(report({ ...patch, _meta: { own: true } })).toMatchObject([
      { kind: 'report', patch: { ...patch, content: within, meta: { own: true } } },
    ])
  })

  test.each([
    ['a kind that is not known', { kind: 'fly' }],
    ['a status that is not known', { status: 'cancelled' }],
    ['a title that is no text', { title: 7 }],
    ['content that is no list', { content: 'x' }],
    ['content that is not wrapped', { content: [{ type: 'text', text: 'x' }] }],
    ['a relative path in a diff', { content: [{ type: 'diff', path: 'a', newText: 'b' }] }],
    ['a diff without a new text', { content: [{ type: 'diff', path: '/a' }] }],
    ['a relative location', { locations: [{ path: 'a' }] }],
    ['a line 0', { locations: [{ path: '/a', line: 0 }] }],
    ['a field that ACP does not have', { colour: 'red' }],
    ['a resource without content', { content: [{ type: 'content', content: NO_RESOURCE }] }],
  ])('is refused with %s', (_name, fields) => {
    expect(() => report(fields)).toThrow(/^Line 1 of the script demo\.jsonl is invalid: /)
  })
})

test.each([
  [{ usage: { used: 1, size: 10, cost: { amount: 0.5, currency: 'USD' } } }, 'usage'],
  [{ title: 'Tidy up' }, 'title'],
  [{ commands: [{ name: 'plan', description: 'Plans', hint: 'what' }] }, 'commands'],
  [{ notice: { severity: 'warning', title: 'Nearly full', description: 'Soon.' } }, 'notice'],
  [{ notice: { message: 'By the way' } }, 'notice'],
  [{ compaction: { status: 'completed', summary: ['So far.'] } }, 'compaction'],
  [{ compaction: { chunk: 'So far.' } }, 'summary'],
  [{ chunk: { type: 'image', data: 'AA==', mimeType: 'image/png' } }, 'content'],
])('updates of an agent outside the conversation %j', (line, kind) => expect(parse(line)).toMatchObject([{ kind }]))

test.each<readonly [line: object, request: object]>([
  [{ readFile: { path: '/a', line: 2, limit: null } }, { kind: 'readFile', file: { path: '/a', line: 2 } }],
  [{ writeFile: { path: '/a', content: '' } }, { kind: 'writeFile', file: { path: '/a', content: '' } }],
  [{ terminal: { command: 'ls' } }, { kind: 'terminal', command: { command: 'ls' }, timeoutMs: undefined }],
  [{ terminal: { ...COMMAND, timeoutMs: 5 } }, { kind: 'terminal', command: COMMAND, timeoutMs: 5 }],
  [{ elicit: FORM }, { kind: 'form', form: FORM }],
  [{ elicit: { ...PAGE, complete: true } }, { kind: 'url', page: PAGE, completes: true }],
])('%j is a request to the client', (line, request) => {
  expect(parse(line)).toEqual([{ kind: 'client', request }])
})
