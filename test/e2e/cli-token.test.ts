/** Commands before a server that demands a token: it is taken from PARLEY_CLIENT_TOKEN, and without it nobody hears of any session. */
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import { type Run, endServers, jsonLines, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'
import { cleanUpServers, placeWith } from './server.ts'

cleanUpServers()
endServers()

const TOKEN = 'open sesame'

/** Whoever runs a command here has this token, or none. */
async function demanding(): Promise<(token?: string) => Run> {
  const place = await placeWith([{ chunk: 'Hello.' }])
  await serveHere({ ...place, env: { PARLEY_SERVER_TOKEN: TOKEN, PARLEY_CLIENT_TOKEN: TOKEN } })
  const agent = await scriptAgent(freshDirectory(), [{ chunk: 'Hello.' }])
  return (token) => ({
    home: place.home,
    cwd: place.cwd,
    agent,
    env: token === undefined ? {} : { PARLEY_CLIENT_TOKEN: token },
  })
}

test.concurrent('the right token lets a command in', async () => {
  const as = await demanding()
  expect(await parley(['run', 'Hi'], as(TOKEN))).toMatchObject({ code: 0, stdout: 'Hello.\n' })
  expect(jsonLines((await parley(['ls', '--json'], as(TOKEN))).stdout)).toHaveLength(1)
})

test.concurrent.each([
  ['a wrong token', 'close sesame'],
  ['no token', undefined],
  ['an empty token', ''],
])('%s is refused in one line that says what to do, and tells of nothing', async (_what, token) => {
  const as = await demanding()
  await parley(['run', 'A secret prompt'], as(TOKEN))
  const { code, stdout, stderr } = await parley(['run', 'Hi'], as(token))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('PARLEY_CLIENT_TOKEN')
  expect(stderr).not.toContain(TOKEN)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})
