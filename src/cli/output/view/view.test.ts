import { describe, expect, test } from 'vitest'
import type { PermissionQuestion } from '../../../client/incoming/permission-requests.ts'
import type { ToolCallContent, Update } from '../../../client/incoming/updates.ts'
import { emptyTranscript, withUpdates } from '../../../client/transcript/transcript.ts'
import { paintFor } from '../terminal/colors.ts'
import { plainScreen, type Screen } from '../terminal/screen.ts'
import { transcriptRows } from './transcript-rows.ts'
import { View } from './view.ts'

const say = (text: string, messageId = 'm'): Update => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  messageId,
})
const think = (text: string): Update => ({
  sessionUpdate: 'agent_thought_chunk',
  content: { type: 'text', text },
  messageId: 'th',
})
const call = (status: string, more = {}): Update => ({
  sessionUpdate: 'tool_call',
  toolCallId: 't',
  title: 'Read a.md',
  status,
  ...more,
})

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

test('rows begin on a new line after streamed text', () => {
  let page = ''
  const screen = plainScreen((text) => (page += text))
  const view = new View({ screen, paint: paintFor(false), answer: (text) => (page += text), isShared: true })
  view.begin()
  view.update(say('Let me see.'))
  view.note('plain', 'Rejected: Delete all')
  view.update(say('Over.', 'n'))
  view.end()
  expect(page).toBe('Let me see.\nRejected: Delete all\n\nOver.\n')
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
    view.showQuestion({ sessionId: 's', toolCall: { toolCallId: 'q', title: 'Delete all' }, options: [] })
    expect(live()[0]).toBe('? Delete all')
    view.endQuestion(answer)
    expect(live()).toEqual([])
  })
  expect(settled).toEqual(rows)
})

test('in a printed session, the prompt stands before its answer', () => {
  const page: string[] = []
  const screen = plainScreen((text) => page.push(text))
  const view = new View({ screen, paint: paintFor(false), answer: (text) => page.push(text) })
  view.update({ ...say('Why?', 'u'), sessionUpdate: 'user_message_chunk' })
  view.update(say('Because.'))
  expect(page).toEqual(['› Why?\n', 'Because.'])
})

test('text, a tool call and more text are separated', () => {
  const { settled, live } = onTerminal((view) => {
    view.begin()
    for (const update of [think('Hm.'), say('First.\n\n'), call('in_progress'), call('completed'), say('Then.', 'm2')])
      view.update(update)
    view.end()
  })
  expect(settled).toEqual(['Hm.', '', 'First.', '', '✓ Read a.md', '', 'Then.'])
  expect(live).toEqual([])
})

test('a running tool call is animated, and has one row once it has ended', () => {
  const { settled, live } = onTerminal((view) => {
    view.begin()
    view.update(call('in_progress'))
    view.update(call('completed'))
    view.update({ sessionUpdate: 'tool_call_update', toolCallId: 't', rawOutput: {} })
    view.end()
  })
  expect(settled.filter((row) => row.includes('Read'))).toEqual(['✓ Read a.md'])
  expect(live).toEqual([])
})

test('a tool call that failed says why, in one row', () => {
  const content = [{ type: 'content', content: { type: 'text', text: 'no such\nfile, and a long story about it' } }]
  const { settled } = onTerminal((view) => {
    view.update(call('failed', { content }))
    view.end()
  })
  expect(settled).toEqual(['✗ Read a.md — no such file, and a long…'])
})

test('a permission request shows the call, and its answer stays', () => {
  let asked: readonly string[] = []
  const { settled } = onTerminal((view, live) => {
    const options = [{ optionId: 'y', name: 'Allow', kind: 'allow_once' }]
    view.begin()
    view.showQuestion({
      sessionId: 's',
      toolCall: { toolCallId: 't', title: 'Write \u001b[2Ja.md', rawInput: { a: 1 } },
      options,
    })
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
    const options = [{ optionId: 'y', name: 'Allow', kind: 'allow_once' }]
    view.showQuestion({ sessionId: 's', toolCall: { toolCallId: 't', title }, options })
    asked = live()
    view.endQuestion('Allow')
    view.end()
    view.begin()
    const long = { toolCallId: 'u', title: `${'word '.repeat(400)}END` }
    view.showQuestion({ sessionId: 's', toolCall: long, options })
    whole = live()
  })
  const titleIn = (rows: readonly string[]) => rows.map((row) => row.slice(2)).join(' ')
  expect(titleIn(asked)).toContain(title)
  expect(titleIn(settled)).toContain(`${title} → Allow`)
  for (const row of [...asked, ...settled]) expect(row.length).toBeLessThanOrEqual(40)
  expect(whole[10]).toMatch(/^ {4}… \d+ more lines$/u)
})

test('the plan stands below while the turn runs, and is printed when it ends', () => {
  const { settled } = onTerminal((view) => {
    view.begin()
    view.update({ sessionUpdate: 'plan', entries: [{ content: 'Read', status: 'in_progress' }] })
    view.update(say('Done.\n'))
    view.update({ sessionUpdate: 'plan', entries: [{ content: 'Read', status: 'completed' }, { content: 'Tell' }] })
    view.end()
  })
  expect(settled).toEqual(['Done.', '', '  ✓ Read', '  ○ Tell'])
})

test('on a pipe stdout is the answer, unchanged, and everything else goes to stderr', () => {
  const { answer, beside } = onPipe((view) => {
    view.begin()
    for (const update of [think('Hm.'), say('**A**\n'), call('completed'), say('B\u001b[2J', 'm2')]) view.update(update)
    view.end()
  })
  expect(answer).toBe('**A**\n\nB\n')
  expect(beside).toBe('✓ Read a.md\n')
})

test('mode, options, notices and the final context usage are one line each', () => {
  const { settled } = onTerminal((view) => {
    view.begin()
    view.update({ sessionUpdate: 'usage_update', used: 10, size: 100 })
    view.update({ sessionUpdate: 'current_mode_update', currentModeId: 'code' })
    view.update({
      sessionUpdate: 'config_option_update',
      configOptions: [
        { id: 'way', name: 'Way', category: 'mode', currentValue: 'code' },
        { id: 'model', name: 'Model', currentValue: 'large' },
      ],
    })
    view.update(say('Hello'))
    view.update({ sessionUpdate: 'notice', severity: 'warning', title: 'Nearly\u001b[2J full' })
    view.update({ sessionUpdate: 'usage_update', used: 20, size: 100, cost: { amount: 0.5, currency: 'USD' } })
    view.update({ sessionUpdate: 'compaction_update', compactionId: 'k', status: 'completed' })
    view.end()
  })
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
      view.update({ ...say('two'), sessionUpdate: 'user_message_chunk' })
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
  const asked = (rawInput: unknown, content?: ToolCallContent[]) => {
    const { live } = onTerminal((view) => {
      view.begin()
      view.showQuestion({
        toolCall: { toolCallId: 't', title: 'T', rawInput, ...(content && { content }) },
        options: [],
      } as unknown as PermissionQuestion)
    })
    return live.slice(1, -1)
  }
  expect(asked({ command: `echo ${'word '.repeat(8)}; rm -rf ~`, timeout: 9 })).toEqual([
    '    $ echo word word word word word',
    '      word word word ; rm -rf ~',
    '    {"timeout":9}',
  ])
  const [oldText, newText] = ['a\nb\nold\nc\nd\n', 'a\nb\nnew\nmore\nc\nd\n']
  expect(asked({ path: 'x' }, [{ type: 'diff', path: '/x', oldText, newText }])).toEqual([
    '    /x',
    '      b',
    '    - old',
    '    + new',
    '    + more',
    '      c',
  ])
  expect(asked({ command: 'x\n'.repeat(30) }).at(-1)).toBe('    … 21 more lines')
})

test('a finished edit shows the number of changed lines', () => {
  const content = [{ type: 'diff', path: '/x', oldText: 'a\nb\nc\n', newText: 'a\nB\nc\nd\n' }]
  const { settled } = onTerminal((view) => {
    view.begin()
    view.update(call('completed', { content }))
    view.end()
  })
  expect(settled).toEqual(['✓ Read a.md +2 −1'])
})

test('on a pipe the thoughts of a model are left out, but not Parley’s own notices', () => {
  const { answer, beside } = onPipe((view) => {
    view.begin()
    view.update(think('Hm, let me see.'))
    const _meta = { 'parley/notice': true }
    const text = 'Rate limited by a:b; trying again in 2 s (2 of 6).\n'
    view.update({ ...think(''), content: { type: 'text', text, _meta } })
    view.update(say('Done.'))
    view.end()
  })
  expect(answer).toBe('Done.\n')
  expect(beside.trim()).toBe('Rate limited by a:b; trying again in 2 s (2 of 6).')
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
