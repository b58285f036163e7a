import { describe, expect, test } from 'vitest'
import type { PermissionQuestion } from '../../../client/incoming/permission-requests.ts'
import type { Update } from '../../../client/incoming/updates.ts'
import { emptyTranscript, withUpdates } from '../../../client/transcript/transcript.ts'
import { paintFor } from '../terminal/colors.ts'
import { plainScreen, type Screen } from '../terminal/screen.ts'
import { transcriptRows } from './transcript-rows.ts'
import { View } from './view.ts'

const say = (text: string, messageId = 'm', sessionUpdate = 'agent_message_chunk'): Update => {
  return { sessionUpdate, content: { type: 'text', text }, messageId }
}
const think = (text: string): Update => say(text, 'th', 'agent_thought_chunk')
const asks = (text: string): Update => say(text, 'u', 'user_message_chunk')
const call = (status: string, more = {}): Update => {
  return { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Read a.md', status, ...more }
}
const question = (title: string, more = {}, names: readonly string[] = ['Allow']): PermissionQuestion => ({
  sessionId: 's',
  toolCall: { toolCallId: 't', title, ...more },
  options: names.map((name) => ({ optionId: name, name, kind: 'allow_once' })),
})

/** What stands for good after a turn with these updates. */
function settledBy(...updates: readonly Update[]): readonly string[] {
  const { settled, live } = onTerminal((view) => {
    view.begin()
    for (const update of updates) view.update(update)
    view.end()
  })
  expect(live).toEqual([])
  return settled
}

/** A terminal of 40 columns, as its rows for good and its last live ones. */
function onTerminal(play: (view: View, live: () => readonly string[]) => void) {
  const settled: string[] = []
  let live: readonly string[] = []
  const screen: Screen = {
    moves: true,
    width: () => 40,
    draw(rows, now) {
      settled.push(...rows)
      live = now
    },
  }
  play(new View({ screen, paint: paintFor(false) }), () => live)
  return { settled, live }
}

/** A pipe: what stdout and stderr get. */
function onPipe(play: (view: View) => void) {
  let answer = ''
  let beside = ''
  const screen = plainScreen((text) => (beside += text))
  play(new View({ screen, paint: paintFor(false), answer: (text) => (answer += text) }))
  return { answer, beside }
}

/** Where the answer and what stands beside it are one stream. */
function onOnePipe(play: (view: View) => void, isShared = false): string {
  let page = ''
  const write = (text: string) => void (page += text)
  play(new View({ screen: plainScreen(write), paint: paintFor(false), answer: write, isShared }))
  return page
}

test('rows begin on a new line after streamed text', () => {
  const page = onOnePipe((view) => {
    view.begin()
    view.update(say('Let me see.'))
    view.note('plain', 'Rejected: Delete all')
    view.update(say('Over.', 'n'))
    view.end()
  }, true)
  expect(page).toBe('Let me see.\nRejected: Delete all\n\nOver.\n')
})

test('in a printed session, the prompt stands before its answer', () => {
  const page = onOnePipe((view) => [asks('Why?'), say('Because.')].forEach((update) => view.update(update)))
  expect(page).toBe('› Why?\nBecause.')
})

test('the status stands below the conversation until it is cleared', () => {
  onTerminal((view, live) => {
    view.begin()
    view.update(say('Half a sen'))
    view.showStatus('Reconnecting …')
    expect(live()).toEqual(['Half a sen', 'Reconnecting …'])
    view.showStatus('')
    expect(live()).toEqual(['Half a sen'])
  })
})

test.each([
  ['answered elsewhere', ['? Delete all → answered elsewhere']],
  [null, []],
])('a permission request that ends with %j leaves %j', (answer, rows) => {
  const { settled } = onTerminal((view, live) => {
    view.showQuestion(question('Delete all'))
    expect(live()[0]).toBe('? Delete all')
    view.endQuestion(answer)
    expect(live()).toEqual([])
  })
  expect(settled).toEqual(rows)
})

const failure = [{ type: 'content', content: { type: 'text', text: 'no such\nfile, and a long story about it' } }]
const change = [{ type: 'diff', path: '/x', oldText: 'a\nb\nc\n', newText: 'a\nB\nc\nd\n' }]
const news = { sessionUpdate: 'tool_call_update', toolCallId: 't', rawOutput: {} }
test.each([
  [
    'text, a tool call and more text are separated',
    [think('Hm.'), say('First.\n\n'), call('in_progress'), call('completed'), say('Then.', 'm2')],
    ['Hm.', '', 'First.', '', '✓ Read a.md', '', 'Then.'],
  ],
  ['a tool call has one row once it has ended', [call('in_progress'), call('completed'), news], ['✓ Read a.md']],
  [
    'a tool call that failed says why',
    [call('failed', { content: failure })],
    ['✗ Read a.md — no such file, and a long…'],
  ],
  [
    'a finished edit shows the number of changed lines',
    [call('completed', { content: change })],
    ['✓ Read a.md +2 −1'],
  ],
])('%s', (_what, updates, rows) => expect(settledBy(...updates)).toEqual(rows))

test('a permission request shows the call, and its answer stays', () => {
  let asked: readonly string[] = []
  const { settled } = onTerminal((view, live) => {
    view.begin()
    view.showQuestion(question('Write \u001b[2Ja.md', { rawInput: { a: 1 } }))
    asked = live()
    view.endQuestion('Allow')
    view.end()
  })
  expect(asked).toEqual(['? Write a.md', '    {"a":1}', '  1  Allow', '  Press 1; Ctrl-C cancels the turn.'])
  expect(settled).toEqual(['? Write a.md → Allow'])
})

test('a long title of a permission request is wrapped, not cut', () => {
  const title = `find . -name '*.log' -delete && rm -rf dist && echo ${'word '.repeat(20)}END`
  let asked: readonly string[] = []
  let whole: readonly string[] = []
  const { settled } = onTerminal((view, live) => {
    view.begin()
    view.showQuestion(question(title))
    asked = live()
    view.endQuestion('Allow')
    view.end()
    view.begin()
    view.showQuestion(question(`${'word '.repeat(400)}END`))
    whole = live()
  })
  const titleIn = (rows: readonly string[]) => rows.map((row) => row.slice(2)).join(' ')
  expect(titleIn(asked)).toContain(title)
  expect(titleIn(settled)).toContain(`${title} → Allow`)
  for (const row of [...asked, ...settled]) expect(row.length).toBeLessThanOrEqual(40)
  expect(whole[10]).toMatch(/^ {4}… \d+ more lines$/u)
})

test('the plan stands below while the turn runs, and is printed when it ends', () => {
  const plan = (...entries: readonly object[]) => ({ sessionUpdate: 'plan', entries })
  const later = plan({ content: 'Read', status: 'completed' }, { content: 'Tell' })
  const settled = settledBy(plan({ content: 'Read', status: 'in_progress' }), say('Done.\n'), later)
  expect(settled).toEqual(['Done.', '', '  ✓ Read', '  ○ Tell'])
})

test('on a pipe stdout is the answer, unchanged; stderr has the rest, without thoughts but with Parley’s own notices', () => {
  const notice = 'Rate limited by a:b; trying again in 2 s (2 of 6).\n'
  const { answer, beside } = onPipe((view) => {
    view.begin()
    view.update(think('Hm, let me see.'))
    view.update({ ...think(''), content: { type: 'text', text: notice, _meta: { 'parley/notice': true } } })
    for (const update of [say('**A**\n'), call('completed'), say('B\u001b[2J', 'm2')]) view.update(update)
    view.end()
  })
  expect(answer).toBe('**A**\n\nB\n')
  expect(beside.trim().split(/\n+/u)).toEqual([notice.trim(), '✓ Read a.md'])
})

test('mode, options, notices and the final context usage are one line each', () => {
  const usage = (used: number, more = {}) => ({ sessionUpdate: 'usage_update', used, size: 100, ...more })
  const configOptions = [
    { id: 'way', name: 'Way', category: 'mode', currentValue: 'code' },
    { id: 'model', name: 'Model', currentValue: 'large' },
  ]
  const settled = settledBy(
    usage(10),
    { sessionUpdate: 'current_mode_update', currentModeId: 'code' },
    { sessionUpdate: 'config_option_update', configOptions },
    say('Hello'),
    { sessionUpdate: 'notice', severity: 'warning', title: 'Nearly\u001b[2J full' },
    usage(20, { cost: { amount: 0.5, currency: 'USD' } }),
    { sessionUpdate: 'compaction_update', compactionId: 'k', status: 'completed' },
  )
  expect(settled.filter((row) => row !== '')).toEqual([
    'mode: code',
    'Model: large',
    'Hello',
    'warning: Nearly full',
    'the context is shorter now; the transcr…',
    'context: 20 of 100 tokens (20 %) · 0.50…',
  ])
})

test('a running call is shown as cancelled when its turn is cancelled, and then as it ended', () => {
  const { settled } = onTerminal((view, live) => {
    view.begin()
    view.update(call('in_progress'))
    view.cancelling()
    expect(live().join('\n')).toContain('✗ Read a.md … cancelled')
    view.update({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' })
    view.end()
  })
  expect(settled).toContain('✓ Read a.md')
})

describe('the mark of a turn that ended before its time', () => {
  const ended = (end: object): Update => ({ sessionUpdate: 'session_info_update', _meta: { 'parley/end': end } })
  const marks = (play: (view: View) => void) =>
    onTerminal((view) => {
      view.begin()
      play(view)
      // A second end, as of silence, has nothing to add.
      view.end()
    }).settled.filter((row) => row !== '')

  test.each([
    ['cancelled', 'ada', '– stopped by ada –'],
    ['cancelled', 'a\nd\u001b[31ma', '– stopped by a da –'],
    ['cancelled', undefined, '– stopped –'],
    ['refusal', undefined, '– the agent refused to go on –'],
    ['max_tokens', undefined, '– the answer came to its length limit –'],
    ['max_turn_requests', undefined, '– the turn has used all its steps –'],
  ])('for %s by %j is one line, in a turn and in a transcript', (stopReason, by, mark) => {
    const update = ended({ stopReason, by })
    const live = marks((view) => {
      view.update(update)
      view.end(stopReason)
    })
    const look = { paint: paintFor(false), width: () => 40 }
    expect([live, transcriptRows(withUpdates(emptyTranscript, [update]), look)]).toEqual([[mark], [mark]])
  })

  test('comes from the response where the server sends no other', () => {
    expect(marks((view) => view.end('refusal'))).toEqual(['– the agent refused to go on –'])
    expect(marks((view) => view.end('end_turn'))).toEqual([])
  })

  test('does not tell users that it was they who stopped it', () => {
    const own = marks((view) => {
      view.cancelling()
      view.update(ended({ stopReason: 'cancelled', by: 'ada' }))
      view.end('cancelled')
    })
    expect(own).toEqual(['– stopped –'])
  })

  test('comes before the next prompt where a view only follows', () => {
    const { answer, beside } = onPipe((view) => {
      view.update(say('One.'))
      view.update(ended({ stopReason: 'cancelled', by: 'ada' }))
      expect(view.transcript.items).toHaveLength(2)
      view.update(asks('two'))
      view.end()
    })
    expect([answer, beside]).toEqual(['One.\n', '– stopped by ada –\n\n› two\n'])
  })

  test('is not that of an earlier turn', () => {
    const later = marks((view) => {
      view.recall(withUpdates(emptyTranscript, [ended({ stopReason: 'cancelled', by: 'ada' })]))
      view.update(say('Hi.'))
      view.end('end_turn')
    })
    expect(later).toEqual(['Hi.'])
  })
})

test('a permission request shows a command and a change completely, however long their lines are', () => {
  const asked = (rawInput: unknown, more = {}) => {
    const { live } = onTerminal((view) => view.showQuestion(question('T', { rawInput, ...more }, [])))
    return live.slice(1, -1)
  }
  expect(asked({ command: `echo ${'word '.repeat(8)}; rm -rf ~`, timeout: 9 })).toEqual([
    '    $ echo word word word word word',
    '      word word word ; rm -rf ~',
    '    {"timeout":9}',
  ])
  const [oldText, newText] = ['a\nb\nold\nc\nd\n', 'a\nb\nnew\nmore\nc\nd\n']
  const rows = ['    /x', '      b', '    - old', '    + new', '    + more', '      c']
  expect(asked({ path: 'x' }, { content: [{ type: 'diff', path: '/x', oldText, newText }] })).toEqual(rows)
  expect(asked({ command: 'x\n'.repeat(30) }).at(-1)).toBe('    … 21 more lines')
})

test('an update changes the transcript in place, so that its cost does not grow with the session', () => {
  const view = new View({ screen: plainScreen(() => undefined), paint: paintFor(false) })
  const { transcript } = view
  for (const update of [say('a'), think('b'), call('pending'), call('completed')]) view.update(update)
  view.cancelling()
  view.end()
  expect(view.transcript).toBe(transcript)
  expect(transcript.items).toHaveLength(3)
})
