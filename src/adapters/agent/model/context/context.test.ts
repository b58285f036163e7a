/** A model's context besides the conversation: summaries, instructions, commands, and its cost. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../../../test/fixtures/process/new-directory.ts'
import {
  ask,
  begin,
  ends,
  houseWith,
  inhabited,
  openWith,
  settled,
  toldTo,
  until,
} from '../../../../../test/model/given.ts'
import { breaks, calls, end, hangs, says, usage } from '../../../../../test/model/puppet-model.ts'
import { text } from '../../../../../test/sim/words.ts'
import { ParleyError } from '../../../../errors/parley-error.ts'

const asked = { model: 'puppet:one', provider: 'Puppets' }
const keyRefused = new ParleyError('MODEL_KEY', { ...asked, variable: 'KEY' })
const long = 'word '.repeat(4_000)

describe('compaction', () => {
  test('on request keeps a summary and the last messages, also after a restart', async () => {
    const { house, model, session, reader } = await openWith([
      says(long),
      says('SUMMARY'),
      says('Yes.'),
      says('Again.'),
    ])
    await ask(session, 'p1', 'Tell me all')
    await ask(session, 'p2', '/compact the names')
    expect(toldTo(model, 1).at(-1)).toContain('Above all keep: the names')
    expect(reader.text).toContain('The model continues with a summary')
    await ask(session, 'p3', 'Still there?')
    const after = toldTo(model, 2)
    expect(after[0]).toContain('SUMMARY')
    expect(after.join('\n')).not.toContain('word word')
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(next, model)
    await ask(reopened, 'p4', 'And now?')
    expect(model.sent[3]?.startsWith(model.sent[2]?.slice(0, -1) ?? '-')).toBe(true)
    expect(reader.entries.filter(({ kind }) => kind === 'compaction')).toHaveLength(2)
  })

  test('on request that fails says why, and changes nothing', async () => {
    const { model, session, reader } = await openWith([says(long), breaks('', keyRefused), says('Yes.')])
    await ask(session, 'p1', long)
    await ask(session, 'p2', '/compact')
    await ask(session, 'p3', 'Still there?')
    expect(reader.text).not.toContain('nothing here to make shorter')
    expect(toldTo(model, -1).slice(0, 2)).toEqual([`user: ${long}`, `model: ${long}`])
    const failed = reader.entries.flatMap((one) => (one.kind === 'turn_ended' && one.error ? [one.error.code] : []))
    expect(failed).toEqual(['MODEL_KEY'])
  })

  test('on request in an empty session does nothing', async () => {
    const { model, session, reader } = await openWith([])
    await ask(session, 'p1', '/compact')
    expect(reader.text).toContain('There is nothing here to make shorter.')
    expect(model.requests).toHaveLength(0)
  })

  test.each([
    ['when the context window is nearly full', { ...usage, input: 890 }],
    ['where the provider does not count tokens', { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }],
  ])('starts by itself %s, and the usage is reported', async (_when, used) => {
    const fills = async function* () {
      yield end([{ kind: 'text', text: long }], { usage: used })
    }
    const { model, session, reader } = await openWith([fills, says('SUMMARY'), says('Fine.')])
    await ask(session, 'p1')
    await ask(session, 'p2', 'How are you?')
    expect(ends(reader.entries)).toEqual(['end_turn', 'end_turn'])
    expect(toldTo(model, 2)).toEqual([expect.stringContaining('SUMMARY'), 'user: How are you?'])
    const reported = reader.entries.flatMap((entry) => (entry.kind === 'usage' ? [entry.usage.used] : []))
    expect(reported[0]).toBeGreaterThan(0)
  })

  test('starts once when the provider says that the request is too long', async () => {
    const tooLong = new ParleyError('MODEL_CONTEXT', asked)
    const { model, session, reader } = await openWith([says(long), breaks('', tooLong), says('SUMMARY'), says('Fine.')])
    await ask(session, 'p1')
    await ask(session, 'p2')
    expect(ends(reader.entries)).toEqual(['end_turn', 'end_turn'])
    expect(model.requests).toHaveLength(4)
    model.answers = [breaks('', tooLong), says('SUMMARY'), breaks('', tooLong)]
    await ask(session, 'p3', long)
    expect(reader.entries.at(-1)).toMatchObject({ stopReason: 'error', error: { code: 'MODEL_CONTEXT' } })
  })
})

test('a conversation that is too long to be summarized loses its beginning, and still begins with a user message', async () => {
  const tooLong = new ParleyError('MODEL_CONTEXT', asked)
  const call = calls({ id: 'c1', name: 'unknown' })
  const { model, session } = await openWith([call, says(long), breaks('', tooLong), says('SUMMARY')])
  await ask(session, 'p1')
  await ask(session, 'p2', '/compact')
  expect(toldTo(model, 3)).toEqual([
    expect.stringMatching(/^user: .*left out/u),
    `model: ${long}`,
    expect.stringMatching(/^user: Write a summary/u),
  ])
})

describe('a temporary failure of a provider', () => {
  test('is retried after the pause that the provider names, and the pause is shown', async () => {
    const limited = new ParleyError('MODEL_RATE_LIMIT', { ...asked, retryAfterMs: 8_000 })
    const { house, model, session, reader } = await openWith([breaks('', limited), says('Here I am.')])
    await begin(session, 'p1')
    await until(() => thoughts(reader.entries).includes('trying again in 8 s (2 of 6)'))
    await house.clock.advance(7_999)
    expect(model.requests).toHaveLength(1)
    await house.clock.advance(1)
    await settled(session)
    expect(reader.text).toBe('Here I am.')
  })

  test('after partial text continues where it ended', async () => {
    const broken = new ParleyError('MODEL_STREAM', { ...asked, reason: 'cut' })
    const { house, model, session, reader } = await openWith([breaks('Half a ', broken), says('sentence.')])
    await begin(session, 'p1')
    await until(() => thoughts(reader.entries).includes('trying again'))
    await house.clock.advance(1_000)
    await settled(session)
    expect(reader.text).toBe('Half a sentence.')
    expect(toldTo(model, 1).slice(1)).toEqual(['model: Half a ', expect.stringContaining('Go on')])
  })

  test('is retried quickly where no server listens', async () => {
    const absent = new ParleyError('MODEL_ABSENT', { ...asked, reason: 'no server listens there' })
    const { house, model, session, reader } = await openWith(Array.from({ length: 4 }, () => breaks('', absent)))
    await begin(session, 'p1')
    for (const attempt of [2, 3]) {
      await until(() => thoughts(reader.entries).includes(`is not there; trying again in 1 s (${attempt} of 3)`))
      await house.clock.advance(1_000)
    }
    await settled(session)
    expect(model.requests).toHaveLength(3)
    expect(reader.entries.at(-1)).toMatchObject({ stopReason: 'error', error: { code: 'MODEL_ABSENT' } })
  })

  test('is given up after six attempts, and a cancel ends the pause', async () => {
    const down = new ParleyError('MODEL_NETWORK', { ...asked, reason: 'refused' })
    const { house, model, session, reader } = await openWith(Array.from({ length: 7 }, () => breaks('', down)))
    await begin(session, 'p1')
    for (let attempt = 2; attempt <= 6; attempt += 1) {
      await until(() => thoughts(reader.entries).includes(`(${attempt} of 6)`))
      await house.clock.advance(60_000)
    }
    await settled(session)
    expect(reader.entries.at(-1)).toMatchObject({ stopReason: 'error', error: { code: 'MODEL_NETWORK' } })
    await begin(session, 'p2')
    await until(() => model.requests.length === 7)
    await session.dispatch({ kind: 'cancel', queued: [] })
    await settled(session)
    expect(ends(reader.entries)).toEqual(['error', 'cancelled'])
  })
})

test('instructions of the roots are in the system prompt, those of directories come with the first tool result there', async () => {
  const root = newDirectory({ 'CLAUDE.md': 'Be kind.', 'deep/AGENTS.md': 'Be deep.' })
  symlinkSync('/etc/passwd', join(root, 'AGENTS.md'))
  const touch = (id: string) => calls({ id, name: 'read', args: { path: join(root, 'deep', 'x.ts') } })
  const { house, model } = houseWith([touch('c1'), touch('c2'), says('Done.')])
  house.tools.add('read', async () => ({ content: [text('x')], isError: false }), { builtin: true, readOnly: true })
  const session = await house.sessions.create({ cwd: root, additionalDirectories: [], mcpServers: [] })
  await ask(session, 'p1')
  expect(model.requests[0]?.system).toContain('Be kind.')
  expect(model.requests[0]?.system).not.toContain('root:')
  expect(toldTo(model, 2).join('\n').split('Be deep.')).toHaveLength(2)
  expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1)
})

describe('a slash command', () => {
  test('may be a prompt file of the project', async () => {
    const root = newDirectory({ '.parley/prompts/review.md': 'Review $ARGUMENTS with care.' })
    const { house, model } = houseWith([says('Looks good.')])
    const session = await house.sessions.create({ cwd: root, additionalDirectories: [], mcpServers: [] })
    await ask(session, 'p1', '/review src/a.ts')
    expect(toldTo(model, 0)).toEqual(['user: Review src/a.ts with care.'])
    expect(session.existing.commands.map(({ name }) => name)).toEqual(['compact', 'tools', 'review'])
  })

  test('that links out of the project is not offered, and not read', async () => {
    const files = { 'work/.parley/prompts/directory.md/': '', 'secret.md': 'A secret.', 'work/own.md': 'Our own.' }
    const root = newDirectory(files)
    const prompts = join(root, 'work/.parley/prompts')
    symlinkSync(join(root, 'secret.md'), join(prompts, 'out.md'))
    symlinkSync(join(root, 'work', 'own.md'), join(prompts, 'in.md'))
    symlinkSync(join(root, 'nowhere.md'), join(prompts, 'gone.md'))
    const { house, model } = houseWith([says('Hm.'), says('Yes.')])
    const session = await house.sessions.create({ cwd: join(root, 'work'), additionalDirectories: [], mcpServers: [] })
    await ask(session, 'p1', '/out')
    await ask(session, 'p2', '/in')
    expect(toldTo(model, 1)).toEqual(['user: /out', 'model: Hm.', 'user: Our own.'])
    expect(session.existing.commands.map(({ name }) => name)).toEqual(['compact', 'tools', 'in'])
  })

  test('that is unknown is sent to the model as text; for one that needs no model nothing is sent', async () => {
    const { model, session, reader } = await openWith([says('Hm.')])
    await ask(session, 'p1', '/usr/bin/env is what?')
    expect(toldTo(model, 0)).toEqual(['user: /usr/bin/env is what?'])
    await ask(session, 'p2', '/tools')
    expect(reader.text).toContain('no tools')
    expect(model.requests).toHaveLength(1)
  })
})

describe('model settings and costs', () => {
  test('the model and its effort apply from the next step on, and the costs add up', async () => {
    const { model, session, reader } = await openWith([says('One.'), says('Two.')])
    await ask(session, 'p1')
    await session.dispatch({ kind: 'set_config_option', configId: 'thought_level', value: 'high' })
    await ask(session, 'p2')
    expect(model.requests.map(({ effort }) => effort)).toEqual([undefined, 'high'])
    const usages = reader.entries.flatMap((entry) => (entry.kind === 'usage' ? [entry.usage] : []))
    expect(usages).toEqual([
      { used: 110, size: 1_000, cost: { amount: 0.002, currency: 'USD' } },
      { used: 110, size: 1_000, cost: { amount: 0.004, currency: 'USD' } },
    ])
  })

  test('a long first prompt gets a title, and a slow title delays no turn', async () => {
    const { house, session } = await openWith([], { titles: true })
    const prompt = `Please ${'look '.repeat(20)}`
    const { model } = houseWith([says('All about looking.'), says('Fine.')])
    inhabited(house, model, { titles: true })
    await ask(session, 'p1', prompt)
    expect(session.existing.title).toBe('All about looking')
    const slow = houseWith([hangs(''), says('Fine.')], { titles: true })
    const opened = await slow.house.open()
    await begin(opened.session, 'p1', prompt)
    await until(() => opened.reader.text === 'Fine.')
    while (ends(opened.reader.entries).length === 0) await slow.house.clock.advance(1_000)
    expect(ends(opened.reader.entries)).toEqual(['end_turn'])
  })
})

function thoughts(entries: readonly { readonly kind: string }[]): string {
  return JSON.stringify(entries.filter((entry) => (entry as { role?: string }).role === 'thought'))
}
