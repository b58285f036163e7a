/** The chat as a place to work in: what a person types, sees and is asked at a real terminal. */
import { describe, expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import { endServers, shareServer } from './cli.ts'
import { cleanUpServers, placeWith } from './server.ts'
import type { Fields } from './message.ts'
import { Terminal, cleanUpTerminals } from './terminal.ts'

cleanUpServers()
endServers()
cleanUpTerminals()
const lodging = shareServer()

const LONG = 120_000
const ENTER = '\r'
const ESC = '\u001b'
const UP = '\u001b[A'
const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_O = '\u000f'
/** Says something and then takes its time. */
const BUSY = [{ chunk: 'Begun.' }, { sleepMs: 600_000 }]

async function chatWith(steps: readonly Fields[], columns?: number): Promise<Terminal> {
  const chat = new Terminal([], await lodging(...steps), columns)
  await chat.until('Ctrl-D leaves')
  return chat
}

/** A chat whose first turn runs. */
async function busyChat(): Promise<Terminal> {
  const chat = await chatWith(BUSY)
  await chat.enter('one')
  await chat.until('Begun.')
  return chat
}

/** The row of the last one that begins so; -1 for none. */
function rowOf(rows: readonly string[], beginning: string): number {
  return rows.findLastIndex((row) => row.startsWith(beginning))
}

function inOrder(rows: readonly string[], ...beginnings: readonly string[]): boolean {
  let from = 0
  return beginnings.every((beginning) => {
    const at = rows.findIndex((row, index) => index >= from && row.startsWith(beginning))
    from = at + 1
    return at >= 0
  })
}

describe.runIf(process.platform === 'linux')('while a turn runs', { timeout: LONG }, () => {
  test.concurrent('Enter queues the message, and each is a prompt of its own', async () => {
    const chat = await busyChat()
    await chat.enter('two')
    await chat.shows('two waits', (rows) => rowOf(rows, '  queued: two') >= 0)
    await chat.enter('three')
    await chat.shows('three waits', (rows) => inOrder(rows, 'Begun.', '  queued: two', '  queued: three'))
    chat.press(ESC)
    await chat.shows('two runs', (rows) =>
      inOrder(rows, '› one', 'Begun.', '– stopped –', '› two', 'Begun.', '  queued: three'),
    )
  })

  test.concurrent('Ctrl-Z without a shell that could bring it back changes nothing', async () => {
    // The program is the leader of its session, as with `setsid` and `ssh -t host parley`: the kernel discards the stop.
    const chat = await busyChat()
    chat.press('\u001a')
    await chat.enter('two')
    await chat.shows('two waits', (rows) => rowOf(rows, '  queued: two') >= 0)
  })

  test.concurrent('Up on an empty line takes the newest queued message back to be edited', async () => {
    const chat = await busyChat()
    for (const text of ['two', 'three']) await chat.enter(text)
    await chat.shows('both wait', (rows) => rowOf(rows, '  queued: three') >= 0)
    chat.press(UP)
    await chat.shows('three is written', (rows) => rowOf(rows, '› three') >= 0 && rowOf(rows, '  queued: three') < 0)
    chat.press(`!${ENTER}`)
    await chat.shows('it waits again', (rows) => inOrder(rows, '  queued: two', '  queued: three!'))
  })

  test.concurrent('pasted lines stay lines, and are one prompt; so do lines that are broken by hand', async () => {
    const chat = await busyChat()
    chat.press('\u001b[200~a\r\nb\u001b[201~')
    chat.press(`\\${ENTER}c\u001b${ENTER}d`)
    await chat.shows('four lines', (rows) => inOrder(rows, '› a', '  b', '  c', '  d'))
    chat.press(ENTER)
    await chat.shows('it waits', (rows) => rowOf(rows, '  queued: a b c d') >= 0)
    chat.press(ESC)
    await chat.shows('it runs', (rows) => inOrder(rows, '– stopped –', '› a', '  b', '  c', '  d', '', 'Begun.'))
  })

  test.concurrent('Ctrl-D leaves, says how to return, and the turn goes on', async () => {
    const place = await placeWith(BUSY)
    const chat = new Terminal([], place)
    await chat.until('Ctrl-D leaves')
    await chat.enter('one')
    await chat.until('Begun.')
    await chat.enter('two')
    await chat.until('queued: two')
    chat.press(CTRL_D)
    await chat.ended()
    const [, id = ''] = /Return with: parley attach (\w+)/u.exec(chat.rows.join('\n')) ?? []
    expect(id).not.toBe('')
    expect(chat.rows.join('\n')).toMatch(/parley attach \w+\s*$/u)
    const again = new Terminal(['attach', id], place)
    await again.shows(
      'the turn',
      (rows) => inOrder(rows, '› one', 'Begun.') && rows.some((row) => /working/u.test(row)),
    )
  })

  test.concurrent('Ctrl-C cancels the turn; where none runs it says how to leave, and then leaves', async () => {
    const chat = await busyChat()
    chat.press(CTRL_C)
    await chat.shows('the mark', (rows) => rowOf(rows, '– stopped –') >= 0)
    chat.press(CTRL_C)
    await chat.until('Press Ctrl-C again to leave')
    chat.press(CTRL_C)
    await chat.ended()
  })
})

describe.runIf(process.platform === 'linux')('two people in one session', { timeout: LONG }, () => {
  async function twoChats(): Promise<readonly [Terminal, Terminal]> {
    const place = await placeWith(BUSY)
    await serveHere({ home: place.home })
    const ann = new Terminal([], place)
    await ann.until('Ctrl-D leaves')
    await ann.enter('one')
    await ann.until('Begun.')
    const bob = new Terminal(['attach'], place)
    await bob.until('Begun.')
    return [ann, bob]
  }

  test.concurrent('see the same order, and each prompt once', async () => {
    const [ann, bob] = await twoChats()
    await bob.enter('two')
    await bob.shows('it waits', (rows) => rowOf(rows, '  queued: two') >= 0)
    await ann.shows('it waits', (rows) => rowOf(rows, '  queued by another: two') >= 0)
    ann.press(ESC)
    // Who has stopped a turn is told to the others only.
    for (const [chat, mark] of [
      [ann, '– stopped –'],
      [bob, '– stopped by '],
    ] as const) {
      await chat.shows('the order', (rows) => inOrder(rows, '› one', 'Begun.', mark, '› two', 'Begun.'))
      expect(chat.rows.filter((row) => row.startsWith('– '))).toHaveLength(1)
      expect(chat.rows.filter((row) => row.startsWith('› two'))).toHaveLength(1)
    }
  })

  test.concurrent('see who else is here, and who joins and leaves', async () => {
    const [ann, bob] = await twoChats()
    const who = /with \S+@\S+ \(attach\)/u
    await ann.shows('who is here', (rows) => rows.some((row) => who.test(row)))
    // These stay for a few seconds, which a test that stands still meanwhile would miss.
    await ann.until('(attach) joined · ')
    bob.press(CTRL_D)
    await ann.until('(attach) left · ')
    await ann.shows('nobody else', (rows) => !rows.slice(-3).some((row) => who.test(row)))
  })
})

describe.runIf(process.platform === 'linux')('what tools do', { timeout: LONG }, () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join('\n')
  const output = (text: string) => [{ type: 'content', content: { type: 'text', text } }]

  test.concurrent('the last lines of a command are shown, and all of them when they are asked for', async () => {
    const command = { toolCallId: 'c', title: 'Run make', kind: 'execute', status: 'completed', content: output(lines) }
    const chat = await chatWith([{ toolCall: command }, { chunk: 'Done.' }])
    await chat.enter('go')
    await chat.until('Done.')
    await chat.shows('its end', (rows) => inOrder(rows, '✓ Run make', '  │ line 40', 'Done.'))
    expect(chat.rows.some((row) => row.includes('line 20'))).toBe(false)
    chat.press(CTRL_O)
    await chat.shows('all of it', (rows) =>
      inOrder(rows, 'Done.', '✓ Run make', '  │ line 1', '  │ line 20', '  │ line 40'),
    )
    await chat.enter('/expand 1')
    await chat.shows('again', (rows) => rows.filter((row) => row === '  │ line 20').length === 2)
  })

  test.concurrent('a command that runs shows what it says', async () => {
    const command = {
      toolCallId: 'c',
      title: 'Run make',
      kind: 'execute',
      status: 'in_progress',
      content: output(lines),
    }
    const chat = await chatWith([{ toolCall: command }, ...BUSY])
    await chat.enter('go')
    await chat.shows('its last line', (rows) => inOrder(rows, '  │ line 40'))
  })

  test.concurrent('a change of a file is shown line by line', async () => {
    const diff = { type: 'diff', path: '/x/a.ts', oldText: 'a\nold\nb\n', newText: 'a\nnew\nb\n' }
    const edit = { toolCallId: 'e', title: 'Edit a.ts', kind: 'edit', status: 'completed', content: [diff] }
    const chat = await chatWith([{ toolCall: edit }, { chunk: 'Done.' }])
    await chat.enter('go')
    await chat.shows('the change', (rows) => inOrder(rows, '✓ Edit a.ts +1 −1', '  │ - old', '  │ + new', 'Done.'))
  })

  test.concurrent('an error that is cut can be opened', async () => {
    const said = `It failed, ${'because of this and that, '.repeat(20)}in short: no.`
    const failed = { toolCallId: 'f', title: 'Fetch it', kind: 'fetch', status: 'failed', content: output(said) }
    const chat = await chatWith([{ toolCall: failed }, { chunk: 'Done.' }])
    await chat.enter('go')
    await chat.until('Done.')
    chat.press(CTRL_O)
    await chat.shows('its end', (rows) =>
      rows
        .join(' ')
        .replaceAll(/\s*│\s*/gu, ' ')
        .includes('in short: no.'),
    )
  })

  test.concurrent('a wrong key at a question gets a hint', async () => {
    const chat = await chatWith([{ permission: { title: 'Delete all' } }, { chunk: 'Over.' }])
    await chat.enter('go')
    await chat.until('? Delete all')
    await chat.pressUntil('x', 'Only 1–2 answer')
    await chat.pressUntil('1', 'Over.')
  })
})

describe.runIf(process.platform === 'linux')('how the session stands', { timeout: LONG }, () => {
  const agent = {
    modes: {
      currentModeId: 'ask',
      availableModes: [
        { id: 'ask', name: 'Ask' },
        { id: 'code', name: 'Code' },
      ],
    },
    configOptions: [{ id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }],
  }

  test.concurrent('stands below the line: agent, mode, context, cost and the session', async () => {
    const usage = { used: 50_000, size: 200_000, cost: { amount: 0.5, currency: 'USD' } }
    const chat = await chatWith([{ agent: { modes: agent.modes } }, { usage }, { chunk: 'Hi.' }])
    await chat.shows('agent and mode', (rows) => /script · Ask · .*[0-9a-f]{8}/u.test(rows.at(-1) ?? ''))
    await chat.enter('go')
    await chat.shows('usage', (rows) => /script · Ask · 25 % of 200k · 0\.50 USD/u.test(rows.at(-1) ?? ''))
  })

  test.concurrent('the mode and other options are changed from inside', async () => {
    const chat = await chatWith([{ agent }, { chunk: '{config.loud}' }])
    await chat.enter('/set loud true')
    await chat.until('Loud: true')
    await chat.enter('go')
    await chat.shows('it is on', (rows) => rowOf(rows, 'true') >= 0)
    await chat.enter('/set')
    await chat.until('1  Loud')
    chat.press(ESC)
    await chat.shows('the line', (rows) => !rows.some((row) => row.includes('1  Loud')))
  })

  test.concurrent('/mode offers the modes', async () => {
    const chat = await chatWith([{ agent: { modes: agent.modes } }, { chunk: 'in {mode}' }])
    await chat.enter('/mode')
    await chat.until('2  Code')
    await chat.pressUntil('2', 'mode: code')
    await chat.enter('go')
    await chat.shows('the mode', (rows) => rowOf(rows, 'in code') >= 0)
  })

  test.concurrent('/help says what keys and commands there are, those of the agent too; Tab completes', async () => {
    const commands = [{ name: 'review', description: 'Review a file' }]
    const chat = await chatWith([{ commands }, { chunk: 'Hi.' }])
    await chat.enter('go')
    await chat.until('Hi.')
    await chat.enter('/help')
    await chat.shows(
      'help',
      (rows) =>
        rows.some((row) => /\/review\s+Review a file/u.test(row)) && rows.some((row) => row.includes('/expand')),
    )
    chat.press('/rev\t')
    await chat.shows('completed', (rows) => rowOf(rows, '› /review') >= 0)
  })

  test.concurrent.each([
    [60, '/help', /^ {6}show keys and commands/u],
    [100, 'Ctrl-C', /^ {30}\S/u],
  ])('/help on %i columns sets in what does not fit on the row of %s', async (columns, name, below) => {
    const chat = await chatWith([{ chunk: 'Hi.' }], columns)
    await chat.enter('/help')
    const rowBelow = (rows: readonly string[]) => rows[rows.findIndex((row) => row.startsWith(`  ${name}`)) + 1] ?? ''
    await chat.shows('help', (rows) => rows.some((row) => row.startsWith('  /quit')) && below.test(rowBelow(rows)))
  })
})
