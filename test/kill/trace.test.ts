/** The trace, read and judged: fragments as strace wrote them, also of calls that others interrupted. */
import { describe, expect, test } from 'vitest'
import { checkTrace, emptyDisk } from './check-trace.ts'
import { parseTrace } from './trace.ts'
import { WORDS } from './tracing.ts'

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
const log = '24</tmp/t1/home/journal.db-wal>'
const client = '1<socket:[121109]>'
const stored = (text: string): string =>
  `9917  pwrite64(${log}, "\\n\\0\\0\\37{\\"kind\\":\\"message_chunk\\",\\"text\\":\\"${text}\\"}", 4096, 41232) = 4096`
const synced = `9917  fdatasync(${log}) = 0`
const told = (text: string): string =>
  `9897  write(${client}, "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"session/update\\",\\"text\\":\\"${text}\\"}\\n", 87) = 87`
const [b1, b2] = ['b1-1 of the tale; ', 'b1-2 of the tale; ']
const findings = (...all: readonly string[]): readonly string[] =>
  checkTrace(parseTrace(lines(...all)), WORDS).findings.map(({ what }) => what)

describe('the parser', () => {
  test('reads a call on one line', () => {
    expect(parseTrace(lines(synced))).toEqual([
      { thread: '9917', name: 'fdatasync', args: log, started: 0, returned: 0, result: 0 },
    ])
  })

  test('joins a call that others interrupted, and knows when it started and when it returned', () => {
    const trace = lines(
      `9917  fdatasync(${log} <unfinished ...>`,
      told(b1),
      '9917  <... fdatasync resumed>)           = 0',
    )
    expect(parseTrace(trace)[0]).toEqual({
      thread: '9917',
      name: 'fdatasync',
      args: log,
      started: 0,
      returned: 2,
      result: 0,
    })
  })

  test('keeps apart what two threads do at the same time', () => {
    const trace = lines(
      `9917  fdatasync(${log} <unfinished ...>`,
      `9897  write(${client}, "a) = 1", 6 <unfinished ...>`,
      '9917  <... fdatasync resumed>)           = -1 EIO (Input/output error)',
      '9897  <... write resumed>)              = 6',
    )
    expect(parseTrace(trace).map(({ name, returned, result }) => [name, returned, result])).toEqual([
      ['fdatasync', 2, -1],
      ['write', 3, 6],
    ])
  })

  test('knows that a call which the kill cut off never returned', () => {
    const trace = lines(
      `9917  fdatasync(${log}) = ?`,
      '9917  +++ killed by SIGKILL +++',
      `9897  write(${client}, "x", 1 <unfinished ...>`,
    )
    expect(parseTrace(trace).map(({ returned }) => returned)).toEqual([undefined, undefined])
  })
})

describe('the order of the disk and the client', () => {
  test('passes when each text is synced before it is sent', () => {
    const trace = lines(stored(b1), synced, told(b1), stored(b1 + b2), synced, told(b2))
    expect(checkTrace(parseTrace(trace), WORDS)).toEqual({ findings: [], covered: 2, syncs: 2 })
  })

  test.each<[string, readonly string[]]>([
    ['told before it is in the log', [told(b1), stored(b1), synced]],
    ['told between the write and the sync', [stored(b1), told(b1), synced]],
    ['never synced', [stored(b1), told(b1)]],
    [
      'told while the sync that covers it still runs',
      [stored(b1), `9917  fdatasync(${log} <unfinished ...>`, told(b1), '9917  <... fdatasync resumed>) = 0'],
    ],
    [
      'written while a sync ran that began before',
      [
        `9917  fdatasync(${log} <unfinished ...>`,
        stored(b1).replace('9917', '9918'),
        '9917  <... fdatasync resumed>) = 0',
        told(b1),
      ],
    ],
    ['covered by a sync that failed', [stored(b1), `9917  fdatasync(${log}) = -1 EIO (Input/output error)`, told(b1)]],
    ['covered by a sync of another file', [stored(b1), '9917  fdatasync(23</tmp/t1/home/journal.db>) = 0', told(b1)]],
    [
      'begun to be told before the sync returned',
      [
        stored(b1),
        `9917  fdatasync(${log} <unfinished ...>`,
        told(b1).replace(/, 87\) = 87$/, ', 87 <unfinished ...>'),
        '9917  <... fdatasync resumed>) = 0',
        '9897  <... write resumed>) = 87',
      ],
    ],
  ])('is broken by a word that is %s', (_what, trace) => expect(findings(...trace)).toHaveLength(1))

  test('is the same for a write that was interrupted and for one to several buffers', () => {
    const vector = `9897  writev(${client}, [{iov_base="{\\"text\\":\\"${b1}\\"}", iov_len=30}, {iov_base="{\\"text\\":\\"${b2}\\"}", iov_len=30}], 2) = 60`
    expect(findings(stored(b1), synced, vector)).toEqual([
      `line 3: “b1-2 of the tale;” is told while it is not in the log`,
    ])
  })

  test('counts what an earlier life has put on the disk', () => {
    const disk = emptyDisk()
    checkTrace(parseTrace(lines(stored(b1), synced)), WORDS, disk)
    expect(checkTrace(parseTrace(lines(told(b1))), WORDS, disk).findings).toEqual([])
  })

  test('counts what an earlier life has written only once a later one has synced it', () => {
    const disk = emptyDisk()
    checkTrace(parseTrace(lines(stored(b1), stored(b2))), WORDS, disk)
    const next = checkTrace(parseTrace(lines(told(b1), synced, told(b2))), WORDS, disk)
    expect(next.findings.map(({ what }) => what)).toEqual([
      'line 1: “b1-1 of the tale;” is told while it is in the log but not synced',
    ])
  })
})
