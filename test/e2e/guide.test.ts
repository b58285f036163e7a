/** The guide on the real binary: it answers from real documents, asks before it runs a stranger's tool, and survives meanwhile. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Message, textOf, updatesIn } from './message.ts'
import { freshDirectory, initialize, newSession, promptOf } from './parley.ts'
import type { RawConnection } from '../wire/raw-connection.ts'
import type { RawClient } from './raw-client.ts'
import { type Stage, cleanUp, connectionsToOneServer, stageWith, start } from './stage.ts'

const server = fileURLToPath(new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url))

function files(log: string) {
  return { name: 'files', command: process.execPath, args: [server, JSON.stringify({ log })], env: [] }
}

cleanUp()
const connect = connectionsToOneServer()

/** In a process of its own, on this state directory. */
async function open(stage: Stage): Promise<RawClient> {
  const client = start(stage, { agent: 'guide' })
  await initialize(client)
  return client
}

function said(messages: readonly Message[]): string {
  return updatesIn(messages)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')
}

function asked(client: RawConnection): Promise<Message> {
  return client.until(({ method }) => method === 'session/request_permission')
}

function callsOf(log: string, name: string): number {
  const lines = readFileSync(log, 'utf8').split('\n')
  return lines.filter((line) => line.includes('tools/call') && line.includes(`"${name}"`)).length
}

describe.concurrent('a question', () => {
  test.concurrent('is answered with the passages that hold its words, wherever they are', async () => {
    const { client, cwd } = await connect('guide')
    const folder = join(cwd, 'deep')
    mkdirSync(folder, { recursive: true })
    const [first, second, other] = [0, 1, 2].map(() => `w${randomBytes(6).toString('hex')}`)
    writeFileSync(
      join(folder, 'one.md'),
      `# Top\n\nNothing here.\n\n## Found\n\nThe ${first} lives with the ${second}.\n`,
    )
    writeFileSync(join(folder, 'two.md'), `# Elsewhere\n\nOnly ${other}.\n`)
    const session = await newSession(client, cwd)

    const { result } = await client.request(
      'session/prompt',
      promptOf(session, `Where does the ${first} meet the ${second}?`),
    )

    expect(result).toEqual({ stopReason: 'end_turn' })
    expect(said(client.received)).toContain('`deep/one.md:7`')
    expect(said(client.received)).toContain(`The ${first} lives with the ${second}.`)
    expect(said(client.received)).not.toContain(other)
  })

  test.concurrent('is not answered from texts that tests are made of, unless the project says so', async () => {
    const stage = await stageWith([])
    const word = `w${randomBytes(6).toString('hex')}`
    for (const folder of ['test/texts', 'src/fixtures', 'docs']) {
      mkdirSync(join(stage.cwd, folder), { recursive: true })
      writeFileSync(join(stage.cwd, folder, 'a.md'), `# A\n\nThe ${word} of ${folder}.\n`)
    }
    const answers = async () => {
      const client = await open(stage)
      const session = await newSession(client, stage.cwd)
      await client.request('session/prompt', promptOf(session, `What is the ${word}?`))
      await client.kill()
      return said(client.received).match(/(?<=`)[\w/]+\.md/gu)
    }
    expect(await answers()).toEqual(['docs/a.md'])
    writeFileSync(join(stage.cwd, '.ignore'), '!test/\n')
    expect((await answers())?.toSorted()).toEqual(['docs/a.md', 'test/texts/a.md'])
  })

  test.concurrent('that nothing answers is told so, with each wording that was tried, and that it was no model', async () => {
    const { client, cwd } = await connect('guide')
    writeFileSync(join(cwd, 'notes.md'), '# Notes\n\nNothing of that.\n')
    const session = await newSession(client, cwd)
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

test.concurrent('where there are no documents, the guide says that alone, and the call is titled with the question', async () => {
  const { client, cwd } = await connect('guide')
  const session = await newSession(client, cwd)
  await client.request('session/prompt', promptOf(session, '数据库'))
  expect(said(client.received)).toMatch(/^There are no documents in the served directories\.\n\n—/u)
  const titles = updatesIn(client.received).flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call' ? [update['title']] : [],
  )
  expect(titles[0]).toBe('Search documents: “数据库”')
})

describe.concurrent('a tool by name', () => {
  test.concurrent('is not run before somebody allowed it, and not when they refuse', async () => {
    const { client, cwd } = await connect('guide')
    const log = join(freshDirectory(), 'log')
    const session = await newSession(client, cwd, [files(log)])
    const ended = client.request('session/prompt', promptOf(session, '/call files__echo {"text":"hi"}'))
    const question = await asked(client)
    expect(callsOf(log, 'echo')).toBe(0)
    client.reply(question.id, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
    expect((await ended).result).toEqual({ stopReason: 'end_turn' })
    expect(callsOf(log, 'echo')).toBe(0)
    expect(said(client.received)).toContain('Not allowed')
  })

  test.concurrent('that is always allowed is not asked about again in the session, restarted or not', async () => {
    const stage = await stageWith([])
    const { cwd } = stage
    const log = join(freshDirectory(), 'log')
    const first = await open(stage)
    const session = await newSession(first, cwd, [files(log)])
    const ended = first.request('session/prompt', promptOf(session, '/call echo {"text":"one"}'))
    first.reply((await asked(first)).id, { outcome: { outcome: 'selected', optionId: 'allow_always' } })
    await ended
    await first.kill()

    const second = await open(stage)
    await second.request('session/resume', { sessionId: session, cwd, mcpServers: [files(log)] })
    await second.request('session/prompt', promptOf(session, '/call echo {"text":"two"}'))
    expect(said(second.received)).toContain('two')
    expect(callsOf(log, 'echo')).toBe(2)
  })

  test.concurrent('that was asked about when the server was killed runs once, after the answer to its next owner', async () => {
    const stage = await stageWith([])
    const { cwd } = stage
    const log = join(freshDirectory(), 'log')
    const first = await open(stage)
    const session = await newSession(first, cwd, [files(log)])
    first.ask('session/prompt', promptOf(session, '/call files__echo {"text":"still here"}'))
    await asked(first)
    await first.kill()

    const second = await open(stage)
    await second.request('session/load', { sessionId: session, cwd, mcpServers: [files(log)] })
    const question = await asked(second)
    expect(question.params).toMatchObject({ sessionId: session, toolCall: { title: 'Echo (files)' } })
    expect(callsOf(log, 'echo')).toBe(0)
    second.reply(question.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    await second.until((message) => updatesIn([message]).some((update) => textOf(update).startsWith('still here')))
    expect(callsOf(log, 'echo')).toBe(1)
  })
})

describe.concurrent('a session with troubled servers', () => {
  test.concurrent('is there at once, and /tools says what became of each', async () => {
    const { client, cwd } = await connect('guide')
    const dead = { name: 'dead', command: '/nowhere/at/all', args: [], env: [] }
    const session = await newSession(client, cwd, [dead, files(join(freshDirectory(), 'log'))])
    await client.request('session/prompt', promptOf(session, '/tools'))
    expect(said(client.received)).toMatch(/\*\*dead\*\* \(failed: .*not found.*\)/)
    expect(said(client.received)).toContain('`files__echo`')
    expect(said(client.received)).toContain('`search_documents`')
  })
})
