/** A client that starts the very first server is answered before that server runs, with what it will say. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import type { Fields } from './message.ts'
import type { RawClient } from './raw-client.ts'
import { cleanUp, connect, placeWith } from './relays.ts'

cleanUp()

const offered = (client: RawClient): Fields | undefined => client.received.find(({ id }) => id === 1)?.result

test.concurrent.each([
  {},
  { PARLEY_AGENT: 'guide' },
  { PARLEY_EXPERIMENTAL: 'true', ANTHROPIC_API_KEY: 'none' },
  { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', PARLEY_MODEL: 'openai:gpt-5.1' },
  { PARLEY_AGENT: 'model', GEMINI_API_KEY: 'none', DEEPSEEK_API_KEY: 'none' },
  { PARLEY_AGENT: 'model:openai:scripted', OPENAI_API_KEY: 'none' },
  { PARLEY_AGENT: 'model:nowhere:gpt-5.1' },
])('with %j', async (env) => {
  const alone = await placeWith([])
  // No server can be started here: the journal is not one.
  mkdirSync(alone.home)
  writeFileSync(join(alone.home, 'journal.db'), 'no journal')
  const first = await connect(alone, { args: [], env })
  expect((await first.request('session/list', {})).error).toMatchObject({ data: { code: 'SERVER_CANNOT_START' } })
  const served = await placeWith([])
  await serveHere({ home: served.home, env })
  const second = await connect(served, { args: [], env })
  expect(offered(first)).toEqual(offered(second))
})
