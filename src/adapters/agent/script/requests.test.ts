/** The steps of a script that ask something of the client, as they are read. */
import { describe, expect, test } from 'vitest'
import { parseScript } from './steps.ts'

const requestIn = (line: unknown): unknown => {
  const [step] = parseScript('demo.jsonl', JSON.stringify(line)).steps
  return step?.kind === 'client' ? step.request : step
}

describe('a step that sends a request to the client', () => {
  test.each<readonly [line: unknown, request: unknown]>([
    [{ readFile: { path: '/a', line: 2, limit: null } }, { kind: 'readFile', file: { path: '/a', line: 2 } }],
    [{ writeFile: { path: '/a', content: '' } }, { kind: 'writeFile', file: { path: '/a', content: '' } }],
    [{ terminal: { command: 'ls' } }, { kind: 'terminal', command: { command: 'ls' }, timeoutMs: undefined }],
    [
      { terminal: { command: 'ls', args: ['-l'], env: { A: 'b' }, cwd: '/', outputByteLimit: 9, timeoutMs: 5 } },
      {
        kind: 'terminal',
        command: { command: 'ls', args: ['-l'], env: { A: 'b' }, cwd: '/', outputByteLimit: 9 },
        timeoutMs: 5,
      },
    ],
    [
      { elicit: { message: 'Who?', schema: { type: 'object' } } },
      { kind: 'form', form: { message: 'Who?', schema: { type: 'object' } } },
    ],
    [
      { elicit: { message: 'Go', url: 'https://example.com', complete: true } },
      { kind: 'url', page: { message: 'Go', url: 'https://example.com' }, completes: true },
    ],
  ])('%j is played', (line, request) => {
    expect(requestIn(line)).toEqual(request)
  })

  test.each([
    { readFile: '/a' },
    { readFile: { path: '/a', line: -1 } },
    { readFile: { path: '/a', encoding: 'utf8' } },
    { writeFile: { path: '/a' } },
    { terminal: { args: [] } },
    { terminal: { command: 'ls', args: 'all' } },
    { terminal: { command: 'ls', env: { A: 1 } } },
    { elicit: { message: 'Who?' } },
    { elicit: { schema: {} } },
    { elicit: { message: 'Go', url: 'https://example.com', complete: 'yes' } },
  ])('%j cannot be played', (line) => {
    expect(() => requestIn(line)).toThrow(/^Line 1 of the script/u)
  })
})
