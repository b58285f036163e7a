/** `parley acp` in one process whose editor goes away in the middle of a turn. */
import { describe, expect, test } from 'vitest'
import { type Message, textOf, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { cleanUp, connect, stageWith } from './stage.ts'

cleanUp()

const SLOW = [{ chunk: 'w{n} ', times: 5_000, everyMs: 2 }]

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')

async function beginTurn(client: RawClient, cwd: string): Promise<{ sessionId: string; prompt: number }> {
  const sessionId = await newSession(client, cwd)
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  await client.until((message) => said([message]).startsWith('w3'))
  return { sessionId, prompt }
}

describe.concurrent('when stdin closes [A-TR-7]', () => {
  test.concurrent('in the middle of a turn, it ends by itself, and the turn is known to be interrupted', async () => {
    const stage = await stageWith(SLOW)
    const client = await connect(stage)
    const { sessionId } = await beginTurn(client, stage.cwd)
    expect(await client.leave()).toEqual({ code: 0, signal: null })

    const next = await connect(stage)
    await next.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
    const told = said(next.received)
    expect(told.startsWith(`go${said(client.received).replace(/Interrupted:.*$/, '')}`)).toBe(true)
    expect(told).toMatch(/Interrupted: the server stopped[^]*$/)
  })
})
