/** The guide on the real binary: it answers from real documents, asks before it runs a stranger's tool, and survives meanwhile. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Message, textOf, updatesIn } from './message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from './parley.ts'
import type { RawClient } from './raw-client.ts'

const server = fileURLToPath(new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url))

function files(log: string) {
  return { name: 'files', command: process.execPath, args: [server, JSON.stringify({ log })], env: [] }
}

async function open(home: string): Promise<RawClient> {
  const client = startParley({ home, agent: 'guide' })
  onTestFinished(async () => void (await client.kill()))
  await initialize(client)
  return client
}

function said(messages: readonly Message[]): string {
  return updatesIn(messages)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')
}

function asked(client: RawClient): Promise<Message> {
  return client.until(({ method }) => method === 'session/request_permission')
}

function callsOf(log: string, name: string): number {
  const lines = readFileSync(log, 'utf8').split('\n')
  return lines.filter((line) => line.includes('tools/call') && line.includes(`"${name}"`)).length
}

describe('a question', () => {
  test('is answered with the passages that hold its words, wherever they are', async () => {
    const home = freshDirectory()
    const folder = join(home, 'notes', 'deep')
    mkdirSync(folder, { recursive: true })
    const [first, second, other] = [0, 1, 2].map(() => `w${randomBytes(6).toString('hex')}`)
    writeFileSync(
      join(folder, 'one.md'),
      `# Top\n\nNothing here.\n\n## Found\n\nThe ${first} lives with the ${second}.\n`,
    )
    writeFileSync(join(folder, 'two.md'), `# Elsewhere\n\nOnly ${other}.\n`)
    const client = await open(home)
    const session = await newSession(client, join(home, 'notes'))

    const { result } = await client.request(
      'session/prompt',
      promptOf(session, `Where does the ${first} meet the ${second}?`),
    )

    expect(result).toEqual({ stopReason: 'end_turn' })
    expect(said(client.received)).toContain('`deep/one.md:7`')
    expect(said(client.received)).toContain(`The ${first} lives with the ${second}.`)
    expect(said(client.received)).not.toContain(other)
    expect(await client.leave()).toEqual({ code: 0, signal: null })
  })

  test('is not answered from texts that tests are made of, unless the project says so', async () => {
    const home = freshDirectory()
    const word = `w${randomBytes(6).toString('hex')}`
    for (const folder of ['test/texts', 'src/fixtures', 'docs']) {
      mkdirSync(join(home, 'work', folder), { recursive: true })
      writeFileSync(join(home, 'work', folder, 'a.md'), `# A\n\nThe ${word} of ${folder}.\n`)
    }
    const answers = async () => {
      const client = await open(home)
      const session = await newSession(client, join(home, 'work'))
      await client.request('session/prompt', promptOf(session, `What is the ${word}?`))
      await client.kill()
      return said(client.received).match(/(?<=`)[\w/]+\.md/gu)
    }
    expect(await answers()).toEqual(['docs/a.md'])
    writeFileSync(join(home, 'work', '.ignore'), '!test/\n')
    expect((await answers())?.toSorted()).toEqual(['docs/a.md', 'test/texts/a.md'])
  })

  test('that nothing answers is told so, with each wording that was tried, and that it was no model', async () => {
    const home = freshDirectory()
    writeFileSync(join(home, 'notes.md'), '# Notes\n\nNothing of that.\n')
    const client = await open(home)
    const session = await newSession(client, home)
    await client.request('session/prompt', promptOf(session, 'xyzzy plugh?'))
    expect(said(client.received)).toMatch(/^Nothing in the documents of .* matches/)
    expect(said(client.received)).toContain('not written by a model')
    const searches = updatesIn(client.received).filter(({ update }) => update.sessionUpdate === 'tool_call')
    const titles = searches.map(({ update }) => update['title'])
    expect(titles.length).toBeGreaterThan(1)
    expect(titles).toContain('Search documents: “xyzzy plugh?”')
    expect(new Set(titles).size).toBe(titles.length)
  })
})

test('where there are no documents, the guide says that alone, and the call is titled with the question', async () => {
  const home = freshDirectory()
  const client = await open(home)
  mkdirSync(join(home, 'empty'))
  const session = await newSession(client, join(home, 'empty'))
  await client.request('session/prompt', promptOf(session, '数据库'))
  expect(said(client.received)).toMatch(/^There are no documents in the served directories\.\n\n—/u)
  const titles = updatesIn(client.received).flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call' ? [update['title']] : [],
  )
  expect(titles[0]).toBe('Search documents: “数据库”')
})

describe('a tool by name', () => {
  test('is not run before somebody allowed it, and not when they refuse', async () => {
    const home = freshDirectory()
    const log = join(home, 'log')
    const client = await open(home)
    const session = await newSession(client, home, [files(log)])
    const ended = client.request('session/prompt', promptOf(session, '/call files__echo {"text":"hi"}'))
    const question = await asked(client)
    expect(callsOf(log, 'echo')).toBe(0)
    client.reply(question.id, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
    expect((await ended).result).toEqual({ stopReason: 'end_turn' })
    expect(callsOf(log, 'echo')).toBe(0)
    expect(said(client.received)).toContain('Not allowed')
  })

  test('that is always allowed is not asked about again in the session, restarted or not', async () => {
    const home = freshDirectory()
    const log = join(home, 'log')
    const first = await open(home)
    const session = await newSession(first, home, [files(log)])
    const ended = first.request('session/prompt', promptOf(session, '/call echo {"text":"one"}'))
    first.reply((await asked(first)).id, { outcome: { outcome: 'selected', optionId: 'allow_always' } })
    await ended
    await first.kill()

    const second = await open(home)
    await second.request('session/resume', { sessionId: session, cwd: home, mcpServers: [files(log)] })
    await second.request('session/prompt', promptOf(session, '/call echo {"text":"two"}'))
    expect(said(second.received)).toContain('two')
    expect(callsOf(log, 'echo')).toBe(2)
  })

  test('that was asked about when the server was killed runs once, after the answer to its next owner', async () => {
    const home = freshDirectory()
    const log = join(home, 'log')
    const first = await open(home)
    const session = await newSession(first, home, [files(log)])
    first.ask('session/prompt', promptOf(session, '/call files__echo {"text":"still here"}'))
    await asked(first)
    await first.kill()

    const second = await open(home)
    await second.request('session/load', { sessionId: session, cwd: home, mcpServers: [files(log)] })
    const question = await asked(second)
    expect(question.params).toMatchObject({ sessionId: session, toolCall: { title: 'Echo (files)' } })
    expect(callsOf(log, 'echo')).toBe(0)
    second.reply(question.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    await second.until((message) => updatesIn([message]).some((update) => textOf(update).startsWith('still here')))
    expect(callsOf(log, 'echo')).toBe(1)
  })
})

describe('a session with troubled servers', () => {
  test('is there at once, and /tools says what became of each', async () => {
    const home = freshDirectory()
    const client = await open(home)
    const dead = { name: 'dead', command: '/nowhere/at/all', args: [], env: [] }
    const session = await newSession(client, home, [dead, files(join(home, 'log'))])
    await client.request('session/prompt', promptOf(session, '/tools'))
    expect(said(client.received)).toMatch(/\*\*dead\*\* \(failed: .*not found.*\)/)
    expect(said(client.received)).toContain('`files__echo`')
    expect(said(client.received)).toContain('`search_documents`')
  })
})
