/** A model's context besides the conversation: summaries, instructions, commands, and its cost. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, begin, ends, houseWith, inhabited, settled, story, until } from '../../../../../test/model/given.ts'
import { breaks, calls, end, hangs, says, usage } from '../../../../../test/model/puppet-model.ts'
import { text } from '../../../../../test/sim/words.ts'
import { ParleyError } from '../../../../errors/parley-error.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-model-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

const asked = { model: 'puppet:one', provider: 'Puppets' }
const keyRefused = new ParleyError('MODEL_KEY', { ...asked, variable: 'KEY' })
const long = 'word '.repeat(4_000)

function promptTextOf(story: readonly string[]): string {
  return story.join('\n')
}

describe('compaction', () => {
  test('on request keeps a summary and the last messages, also after a restart', async () => {
    const { house, model } = houseWith([says(long), says('SUMMARY'), says('Yes.'), says('Again.')])
    const { session, reader } = await house.open()
    await ask(session, 'p1', 'Tell me all')
    await ask(session, 'p2', '/compact the names')
    expect(story(model.requests[1]?.messages ?? []).at(-1)).toContain('Above all keep: the names')
    expect(reader.text).toContain('The model continues with a summary')
    await ask(session, 'p3', 'Still there?')
    const after = story(model.requests[2]?.messages ?? [])
    expect(after[0]).toContain('SUMMARY')
    expect(promptTextOf(after)).not.toContain('word word')
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(next, model)
    await ask(reopened, 'p4', 'And now?')
    expect(model.sent[3]?.startsWith(model.sent[2]?.slice(0, -1) ?? '-')).toBe(true)
    expect(reader.entries.filter(({ kind }) => kind === 'compaction')).toHaveLength(2)
  })

  test('on request that fails says why, and changes nothing', async () => {
    const { house, model } = houseWith([says(long), breaks('', keyRefused), says('Yes.')])
    const { session, reader } = await house.open()
    await ask(session, 'p1', long)
    await ask(session, 'p2', '/compact')
    await ask(session, 'p3', 'Still there?')
    expect(reader.text).not.toContain('nothing here to make shorter')
    expect(story(model.requests.at(-1)?.messages ?? []).slice(0, 2)).toEqual([`user: ${long}`, `model: ${long}`])
    const failed = reader.entries.flatMap((one) => (one.kind === 'turn_ended' && one.error ? [one.error.code] : []))
    expect(failed).toEqual(['MODEL_KEY'])
  })

  test('on request in an empty session does nothing', async () => {
    const { house, model } = houseWith([])
    const { session, reader } = await house.open()
    await ask(session, 'p1', '/compact')
    expect(reader.text).toContain('There is nothing here to make shorter.')
    expect(model.requests).toHaveLength(0)
  })

  test('starts by itself when the context window is nearly full', async () => {
    const full = { usage: { ...usage, input: 890 } }
    const { house, model } = houseWith([
      async function* () {
        yield end([{ kind: 'text', text: long }], full)
      },
      says('SUMMARY'),
      says('Fine.'),
    ])
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    await ask(session, 'p2', 'How are you?')
    expect(ends(reader.entries)).toEqual(['end_turn', 'end_turn'])
    expect(story(model.requests[2]?.messages ?? [])).toEqual([expect.stringContaining('SUMMARY'), 'user: How are you?'])
  })

  test('starts by itself where the provider does not count tokens, and the usage is reported anyway', async () => {
    const silent = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }
    const { house, model } = houseWith([
      async function* () {
        yield end([{ kind: 'text', text: long }], silent)
      },
      says('SUMMARY'),
      says('Fine.'),
    ])
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    await ask(session, 'p2', 'How are you?')
    const used = reader.entries.flatMap((entry) => (entry.kind === 'usage' ? [entry.usage.used] : []))
    expect(used[0]).toBeGreaterThan(0)
    expect(story(model.requests[2]?.messages ?? [])[0]).toContain('SUMMARY')
  })

  test('starts once when the provider says that the request is too long', async () => {
    const tooLong = new ParleyError('MODEL_CONTEXT', asked)
    const { house, model } = houseWith([says(long), breaks('', tooLong), says('SUMMARY'), says('Fine.')])
    const { session, reader } = await house.open()
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
  const { house, model } = houseWith([
    calls({ id: 'c1', name: 'unknown' }),
    says(long),
    breaks('', tooLong),
    says('SUMMARY'),
  ])
  const { session } = await house.open()
  await ask(session, 'p1')
  await ask(session, 'p2', '/compact')
  expect(story(model.requests[3]?.messages ?? [])).toEqual([
    expect.stringMatching(/^user: .*left out/u),
    `model: ${long}`,
    expect.stringMatching(/^user: Write a summary/u),
  ])
})

describe('a temporary failure of a provider', () => {
  test('is retried after the pause that the provider names, and the pause is shown', async () => {
    const limited = new ParleyError('MODEL_RATE_LIMIT', { ...asked, retryAfterMs: 8_000 })
    const { house, model } = houseWith([breaks('', limited), says('Here I am.')])
    const { session, reader } = await house.open()
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
    const { house, model } = houseWith([breaks('Half a ', broken), says('sentence.')])
    const { session, reader } = await house.open()
    await begin(session, 'p1')
    await until(() => thoughts(reader.entries).includes('trying again'))
    await house.clock.advance(1_000)
    await settled(session)
    expect(reader.text).toBe('Half a sentence.')
    expect(story(model.requests[1]?.messages ?? []).slice(1)).toEqual([
      'model: Half a ',
      expect.stringContaining('Go on'),
    ])
  })

  test('is retried quickly where no server listens', async () => {
    const absent = new ParleyError('MODEL_ABSENT', { ...asked, reason: 'no server listens there' })
    const { house, model } = houseWith(Array.from({ length: 4 }, () => breaks('', absent)))
    const { session, reader } = await house.open()
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
    const { house, model } = houseWith(Array.from({ length: 7 }, () => breaks('', down)))
    const { session, reader } = await house.open()
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

describe('instructions', () => {
  test('of the roots are in the system prompt, those of directories come with the first tool result there', async () => {
    mkdirSync(join(root, 'deep'))
    writeFileSync(join(root, 'CLAUDE.md'), 'Be kind.')
    writeFileSync(join(root, 'deep', 'AGENTS.md'), 'Be deep.')
    symlinkSync('/etc/passwd', join(root, 'AGENTS.md'))
    const touch = (id: string) => calls({ id, name: 'read', args: { path: join(root, 'deep', 'x.ts') } })
    const { house, model } = houseWith([touch('c1'), touch('c2'), says('Done.')])
    house.tools.add('read', async () => ({ content: [text('x')], isError: false }), { builtin: true, readOnly: true })
    const session = await house.sessions.create({ cwd: root, additionalDirectories: [], mcpServers: [] })
    await ask(session, 'p1')
    expect(model.requests[0]?.system).toContain('Be kind.')
    expect(model.requests[0]?.system).not.toContain('root:')
    expect(promptTextOf(story(model.requests[2]?.messages ?? [])).split('Be deep.')).toHaveLength(2)
    expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1)
  })
})

describe('a slash command', () => {
  test('may be a prompt file of the project', async () => {
    mkdirSync(join(root, '.parley', 'prompts'), { recursive: true })
    writeFileSync(join(root, '.parley', 'prompts', 'review.md'), 'Review $ARGUMENTS with care.')
    const { house, model } = houseWith([says('Looks good.')])
    const session = await house.sessions.create({ cwd: root, additionalDirectories: [], mcpServers: [] })
    await ask(session, 'p1', '/review src/a.ts')
    expect(story(model.requests[0]?.messages ?? [])).toEqual(['user: Review src/a.ts with care.'])
    expect(session.existing.commands.map(({ name }) => name)).toEqual(['compact', 'tools', 'review'])
  })

  test('that links out of the project is not offered, and not read', async () => {
    const prompts = join(root, 'work', '.parley', 'prompts')
    mkdirSync(join(prompts, 'directory.md'), { recursive: true })
    writeFileSync(join(root, 'secret.md'), 'A secret.')
    writeFileSync(join(root, 'work', 'own.md'), 'Our own.')
    symlinkSync(join(root, 'secret.md'), join(prompts, 'out.md'))
    symlinkSync(join(root, 'work', 'own.md'), join(prompts, 'in.md'))
    symlinkSync(join(root, 'nowhere.md'), join(prompts, 'gone.md'))
    const { house, model } = houseWith([says('Hm.'), says('Yes.')])
    const session = await house.sessions.create({ cwd: join(root, 'work'), additionalDirectories: [], mcpServers: [] })
    await ask(session, 'p1', '/out')
    await ask(session, 'p2', '/in')
    expect(story(model.requests[1]?.messages ?? [])).toEqual(['user: /out', 'model: Hm.', 'user: Our own.'])
    expect(session.existing.commands.map(({ name }) => name)).toEqual(['compact', 'tools', 'in'])
  })

  test('that is unknown is sent to the model as text', async () => {
    const { house, model } = houseWith([says('Hm.')])
    const { session } = await house.open()
    await ask(session, 'p1', '/usr/bin/env is what?')
    expect(story(model.requests[0]?.messages ?? [])).toEqual(['user: /usr/bin/env is what?'])
  })

  test('that needs no model sends no request', async () => {
    const { house, model } = houseWith([])
    const { session, reader } = await house.open()
    await ask(session, 'p1', '/tools')
    expect(reader.text).toContain('no tools')
    expect(model.requests).toHaveLength(0)
  })
})

describe('model settings and costs', () => {
  test('the model and its effort apply from the next step on, and the costs add up', async () => {
    const { house, model } = houseWith([says('One.'), says('Two.')])
    const { session, reader } = await house.open()
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
    const { house } = houseWith([], { titles: true })
    const { session } = await house.open()
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
