/** The guide on the real binary: it answers from real documents, asks before it runs a stranger's tool, and survives meanwhile. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Message, textOf, updatesIn } from './message.ts'
import { freshDirectory, initialize, newSession, promptOf } from './parley.ts'
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
