/** A script is read whole before it is played, and a line that cannot be played is named. */
import { assert, json, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isParleyError } from '../../../errors/parley-error.ts'
import { parseScript } from './lines.ts'

const parse = (...lines: readonly unknown[]) =>
  parseScript('demo.jsonl', lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))

describe('a line of a script', () => {
  test('says a text as often as it is told', () => {
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

  test('asks with two answers unless it names its own', () => {
    const [plain, own] = parse(
      { permission: { title: 'Go on?' } },
      { permission: { title: 'Go on?', options: [{ optionId: 'yes', kind: 'allow_always' }] } },
    )
    expect(plain).toMatchObject({ permission: { options: [{ kind: 'allow_once' }, { kind: 'reject_once' }] } })
    expect(own).toMatchObject({ permission: { options: [{ optionId: 'yes', name: 'yes', kind: 'allow_always' }] } })
  })

  test('runs what it asked about once that is allowed', () => {
    const [step] = parse({ permission: { toolCall: { name: 'rm', arguments: {} } } })
    expect(step).toMatchObject({ permission: { patch: { title: 'rm' }, call: { name: 'rm' } } })
  })

  test('may be empty', () =>
    expect(parse('', { end: 'refusal' }, '  ')).toEqual([{ kind: 'end', stopReason: 'refusal' }]))
})

describe('a line that cannot be played', () => {
  test.each([
    ['is not JSON', '{"chunk":'],
    ['is not an object', '[1]'],
    ['has none of the known keys', { shout: 'hey' }],
    ['has a chunk that is no text', { chunk: 7 }],
    ['has a number below 0', { chunk: 'a', times: -1 }],
    ['ends with an unknown reason', { end: 'bored' }],
    ['offers an unknown kind of answer', { permission: { options: [{ optionId: 'a', kind: 'maybe' }] } }],
  ])('%s: its number is told', (_name, line) => {
    expect(() => parse({ chunk: 'fine' }, line)).toThrow(/^Line 2 of the script demo\.jsonl cannot be played: /)
  })

  test('never breaks the reader in another way', () => {
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
