/** Sessions that are forked, renamed and given other agents, on the real binary: also when it is killed in the middle of it. */
import { writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { textOf, updatesIn, type Fields } from './message.ts'
import { initialize, newSession, promptOf, scriptAgent } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { type Stage, cleanUp, connect, stageWith, start } from './stage.ts'

cleanUp()

async function load(client: RawClient, sessionId: string, cwd: string): Promise<readonly string[]> {
  const before = client.received.length
  const { error } = await client.request('session/load', { sessionId, cwd, mcpServers: [] })
  expect(error).toBeUndefined()
  return updatesIn(client.received.slice(before), sessionId).map(textOf)
}

async function sessionIds(client: RawClient): Promise<readonly string[]> {
  const { result } = await client.request('session/list', {})
  const sessions = result?.['sessions'] as readonly Fields[] | undefined
  return (sessions ?? []).map(({ sessionId }) => String(sessionId))
}

/** A session with a turn that says 40 words and goes on for long. */
async function talking(stage: Stage, more: Parameters<typeof start>[1] = {}) {
  const client = start(stage, more)
  await initialize(client)
  const sessionId = await newSession(client, stage.cwd)
  client.ask('session/prompt', promptOf(sessionId, 'Count!'))
  await client.until((message) => updatesIn([message]).some((update) => textOf(update) === '40 '))
  return { client, sessionId }
}

const counting = [{ chunk: '{n} ', times: 40 }, { sleepMs: 60_000 }]

describe.concurrent('a fork', () => {
  test.concurrent('of a session in mid-turn is there after kill -9, whole, and goes on', async () => {
    const stage = await stageWith(counting)
    const { client, sessionId } = await talking(stage)
    const { result } = await client.request('_parley/fork', { sessionId })
    await client.kill()
    writeFileSync(join(stage.home, '..', 'script.jsonl'), '{"chunk": "Done."}\n')

    const next = await connect(stage)
    const forkId = String(result?.['sessionId'])
    const texts = await load(next, forkId, stage.cwd)
    expect(texts.join('')).toMatch(/^Count!(\d+ ){40}Interrupted: this session was forked/u)
    const { result: end } = await next.request('session/prompt', promptOf(forkId, 'Go on'))
    expect(end).toEqual({ stopReason: 'end_turn' })
    expect((await load(next, sessionId, stage.cwd)).join('')).toContain('Interrupted: the server stopped')
  })

  test.concurrent.each([
    ['journal.fork.copied', 1, 0],
    ['journal.transaction.committed', 3, 1],
  ])('cut by kill -9 at %s, time %i, is whole or not there', async (point, nth, forks) => {
    const stage = await stageWith([{ chunk: '{n} ', times: 40 }])
    const first = await connect(stage)
    const sessionId = await newSession(first, stage.cwd)
    await first.request('session/prompt', promptOf(sessionId, 'Count!'))
    await first.leave()

    const client = start(stage, { env: { PARLEY_FAULTS: JSON.stringify([{ point, action: 'kill', nth }]) } })
    await initialize(client)
    client.ask('_parley/fork', { sessionId })
    expect((await client.exited).signal).toBe('SIGKILL')

    const next = await connect(stage)
    const ids = await sessionIds(next)
    expect(ids).toHaveLength(1 + forks)
    for (const id of ids) expect((await load(next, id, stage.cwd)).join('')).toMatch(/^Count!(\d+ ){40}$/u)
  })
})

test.concurrent('a new name is there after kill -9, and whoever lists sees it', async () => {
  const stage = await stageWith([{ chunk: 'Hello.' }])
  const client = await connect(stage)
  const sessionId = await newSession(client, stage.cwd)
  await client.request('_parley/rename', { sessionId, title: 'A better name' })
  await client.request('session/prompt', promptOf(sessionId, 'Hello?'))
  await client.kill()
  const next = await connect(stage)
  const { result } = await next.request('session/list', {})
  expect(result?.['sessions']).toMatchObject([{ sessionId, title: 'A better name' }])
})

describe.concurrent('the script of a session', () => {
  test.concurrent('that is gone by now fails the next turn with one sentence, until another agent is named', async () => {
    const stage = await stageWith([{ chunk: 'First.' }])
    const path = join(stage.home, '..', 'script.jsonl')
    const client = await connect(stage)
    const sessionId = await newSession(client, stage.cwd)
    await client.request('session/prompt', promptOf(sessionId, 'Hello?'))
    rmSync(path)
    const { error } = await client.request('session/prompt', promptOf(sessionId, 'And?'))
    expect(error).toMatchObject({ data: { code: 'SCRIPT_UNREADABLE' } })
    expect(error?.message).toContain(path)
    const refused = await client.request('session/new', { cwd: stage.cwd, mcpServers: [] })
    expect(refused.error).toMatchObject({ data: { code: 'SCRIPT_UNREADABLE' } })
    await client.leave()

    const guided = start(stage, { agent: 'guide' })
    await initialize(guided)
    const told = (await load(guided, sessionId, stage.cwd)).filter((words) => words !== '')
    expect(told.slice(0, 2)).toEqual(['Hello?', 'First.'])
    await guided.request('session/prompt', promptOf(sessionId, '/help'))
    expect(guided.received.map((message) => updatesIn([message]).map(textOf).join('')).join('')).toContain(
      'offline guide',
    )
  })

  test.concurrent('that changes holds from the next prompt on', async () => {
    const stage = await stageWith([{ chunk: 'First.' }])
    const client = await connect(stage)
    const sessionId = await newSession(client, stage.cwd)
    await client.request('session/prompt', promptOf(sessionId, 'Hello?'))
    await scriptAgent(join(stage.home, '..'), [{ chunk: 'Second.' }])
    await client.request('session/prompt', promptOf(sessionId, 'And?'))
    expect(updatesIn(client.received).map(textOf).filter(Boolean)).toEqual(['First.', 'Second.'])
  })
})
