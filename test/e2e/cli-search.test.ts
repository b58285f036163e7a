import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import { Cli, endServers, jsonLines, killServer, parley, workIn } from './cli.ts'
import { freshDirectory, promptOf, scriptAgent } from './parley.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'
import { RawSocket } from './raw-socket.ts'

endServers()
cleanUpServers()

describe.concurrent('parley search', () => {
  test.concurrent('finds nothing where nothing was said, and makes nothing', async () => {
    const home = freshDirectory()
    const stderr = 'parley: nothing that was said has all of these words.\n'
    expect(await parley(['search', 'word'], { home })).toMatchObject({ code: 0, stdout: '', stderr })
    expect(await parley(['search', '--json', 'word'], { home })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(readdirSync(home)).toEqual(['work'])
  })

  test.concurrent('finds a passage with its session and place, as text and as JSON, with the server and without', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [
      { chunk: 'The spare key is under the do' },
      { chunk: 'ormat. \u001b[31m钥匙在垫子下面' },
    ])
    await parley(['run', 'Where is it?'], { home, agent })
    const [session] = jsonLines((await parley(['ls', '--json'], { home })).stdout)
    const sessionId = String(session?.['sessionId'])
    const wanted = {
      sessionId,
      cwd: workIn(home),
      title: 'Where is it?',
      by: 'agent',
      turnId: 't1',
      at: expect.stringMatching(/^\d{4}-/u),
      text: 'The spare key is under the doormat. \u001b[31m钥匙在垫子下面',
    }
    const found = jsonLines((await parley(['search', '--json', 'doormat', 'KEY'], { home })).stdout)
    expect(found).toEqual([expect.objectContaining(wanted)])
    expect(found[0]?.['highlights']).toEqual([
      [10, 13],
      [27, 34],
    ])
    killServer(home)
    expect(jsonLines((await parley(['search', '--json', '垫子'], { home })).stdout)).toMatchObject([wanted])
    const { stdout, code } = await parley(['search', '钥匙'], { home })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^[0-9a-f]{8} {2}Where is it\? · just now · t1, agent, entry \d+\n {2}The spare key .*钥匙在垫子下面\n$/u,
    )
    expect((await parley(['search', 'garage'], { home })).stdout).toBe('')
    expect((await parley(['search', '--cwd', '/', 'doormat'], { home })).stdout).toBe('')
    expect(await parley(['search', '--limit', '0', 'doormat'], { home })).toMatchObject({ code: 2 })
  })

  test.concurrent('finds on after the index was deleted, after kill -9 of the owner, and not what was deleted', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'needle {n} ', times: 100_000, everyMs: 1 }])
    const cli = new Cli(['run', 'go on and on', '--embedded'], { home, agent })
    await cli.until('needle 20 ')
    expect((await parley(['search', 'needle', '20'], { home })).stdout).toContain('needle 20')
    cli.child.kill('SIGKILL')
    await cli.finished
    for (const name of readdirSync(home).filter((name) => name.startsWith('search.db'))) rmSync(join(home, name))
    expect((await parley(['search', 'needle', '20'], { home })).stdout).toContain('needle 20')
    expect(existsSync(join(home, 'search.db'))).toBe(true)
    const [session] = jsonLines((await parley(['ls', '--json'], { home })).stdout)
    expect(await parley(['rm', '--yes', String(session?.['sessionId'])], { home })).toMatchObject({ code: 0 })
    expect((await parley(['search', 'needle'], { home })).stdout).toBe('')
  })
})

describe.concurrent('_parley/search', () => {
  test.concurrent('finds at once what was just said, and says what is wrong with the question', async () => {
    const place = await placeWith([{ chunk: 'a needle in the haystack' }])
    await serveHere(place)
    const client = await RawSocket.open(place.socket)
    const sessionId = await openSession(client, place)
    await client.request('session/prompt', promptOf(sessionId, 'look'))
    const { result } = await client.request('_parley/search', { query: 'needle haystack' })
    expect(result).toMatchObject({ more: false, behind: 0, passages: [{ sessionId, by: 'agent', turnId: 't1' }] })
    expect(await client.request('_parley/search', { query: 'needle', cwd: '/' })).toMatchObject({
      result: { passages: [] },
    })
    for (const [id, found] of [
      [sessionId, 1],
      ['another', 0],
    ] as const) {
      const within = await client.request('_parley/search', { query: 'needle', sessionId: id })
      expect(within.result?.['passages']).toHaveLength(found)
    }
    for (const params of [
      {},
      { query: 1 },
      { query: 'a', limit: 0 },
      { query: 'a', limit: 201 },
      { query: 'a', cwd: 1 },
      { query: 'a', sessionId: 1 },
    ])
      expect(await client.request('_parley/search', params)).toMatchObject({ error: { code: -32602 } })
    client.socket.destroy()
  })
})
