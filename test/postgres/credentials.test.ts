/** Access tokens, devices and share links hold at every node of a cluster, wherever they were made, until they are removed anywhere. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { LiveKeyRing } from '../../src/credentials/credential-store.ts'
import { Credentials } from '../../src/credentials/key-ring.ts'
import { SharedCredentials } from '../../src/server/cluster/shared-credentials.ts'
import { endServers, jsonLines, parley } from '../e2e/cli.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { RawHttp } from '../wire/raw-http.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { type Environment, TestNode, openedBy } from './nodes.ts'
import { DatabaseProxy } from './proxy.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

/** The code with which a connection ends whose credential is gone. */
const GONE = 4401

describe.concurrent('the credentials of a cluster', () => {
  /** What a node has of them, and the way to the database of the first one. */
  async function stores(): Promise<{
    readonly one: SharedCredentials
    readonly two: SharedCredentials
    readonly proxy: DatabaseProxy
    readonly close: () => Promise<void>
  }> {
    const proxy = await new DatabaseProxy(server.directory).open()
    const schema = server.schema()
    await initCluster({ urls: [server.url], schema }, systemClock.id())
    const open = (url: string) => SharedCredentials.open({ url, schema, clock: systemClock })
    const [one, two] = [await open(proxy.url), await open(server.url)]
    const close = async (): Promise<void> => {
      await Promise.all([one.close(), two.close()])
      await proxy.close()
    }
    return { one, two, proxy, close }
  }

  const namesIn = ({ known }: SharedCredentials) => known.tokens.all().map(({ name }) => name)

  test.concurrent('lose no change when two nodes change them at the same time', async ({ expect }) => {
    const { one, two, close } = await stores()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const added = names.map((name, index) =>
      (index % 2 === 0 ? one : two).change(({ tokens }) => tokens.add(name, 'read')),
    )
    const secrets = await Promise.all(added)
    for (const node of [one, two]) {
      await node.refresh()
      expect(namesIn(node).toSorted()).toEqual(names)
      const ring = node.known.ring(() => undefined)
      expect(secrets.map((secret) => ring.holderOf(secret)?.name)).toEqual(names)
    }
    await close()
  })

  test.concurrent('are known at another node when a client shows one, and not valid there soon after it was removed', async ({
    expect,
  }) => {
    const { one, two, close } = await stores()
    const ring = new LiveKeyRing(two, (error) => expect.fail(String(error)))
    const secret = await one.change(({ tokens }) => tokens.add('ada', 'read'))
    const holder = (await ring.holderOf(secret)) ?? expect.fail('it was not asked for')
    two.follow()
    await one.change(({ tokens }) => tokens.remove('ada'))
    await expect.poll(() => ring.look().changeFor(holder)).toBe('removed')
    expect(await ring.holderOf(secret)).toBeUndefined()
    await close()
  })

  test.concurrent('make one device of one code, at whichever node it is used first', async ({ expect }) => {
    const { one, two, close } = await stores()
    const { code } = await one.change(({ devices }) => devices.offer({ role: 'read' }))
    const pairing = [one, two].map((node) => node.change(({ devices }) => devices.pair(code, 'phone')))
    const outcomes = await Promise.allSettled(pairing)
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await two.refresh()
    expect(two.known.devices.all()).toMatchObject([{ name: 'phone' }])
    await close()
  })

  test.concurrent('count wrong tries of a code at all nodes together', async ({ expect }) => {
    const { one, two, close } = await stores()
    const { code } = await one.change(({ devices }) => devices.offer({ role: 'read' }))
    const wrong = `${code.slice(0, 4)}${'x'.repeat(22)}`
    const tried = (node: SharedCredentials, what: string) => node.change(({ devices }) => devices.pair(what, 'x'))
    for (const node of [one, two, one, two, one]) await expect(tried(node, wrong)).rejects.toThrow('not complete')
    await expect(tried(two, code)).rejects.toThrow('it was used')
    await close()
  })

  test.concurrent('are changed once when the answer of the database is lost', async ({ expect }) => {
    const { one, two, proxy, close } = await stores()
    proxy.loseAnswerTo('parley_replace')
    const secret = await one.change(({ tokens }) => tokens.add('ada', 'read'))
    expect(proxy.lost).toBe(1)
    await two.refresh()
    expect(namesIn(two)).toEqual(['ada'])
    expect(two.known.ring(() => undefined).holderOf(secret)).toMatchObject({ name: 'ada' })
    await close()
  })

  test.concurrent('are asked for once by a flood of wrong credentials', async ({ expect }) => {
    const { one, proxy, close } = await stores()
    let questions = 0
    proxy.watch((sent) => (questions += sent.includes('parley_newer') ? 1 : 0))
    await Promise.all(Array.from({ length: 500 }, () => one.refresh()))
    expect(questions).toBe(1)
    await close()
  })

  test.concurrent('take what the files of a new node have, but nothing that was removed', async ({ expect }) => {
    const { one, two, close } = await stores()
    const [home, other] = [freshDirectory(), freshDirectory()]
    const local = new Credentials(home, systemClock)
    const [kept, gone] = [local.tokens.add('ada', 'read'), local.tokens.add('bob', 'admin')]
    const paired = local.devices.pair(local.devices.offer({ role: 'read' }).code, 'phone')
    new Credentials(other, systemClock).adopt(local)
    await one.change(({ tokens }) => tokens.add('ada', 'admin'))
    expect(await one.adoptFiles(home)).toBe(3)
    expect(existsSync(join(home, 'access-tokens.json'))).toBe(false)
    await two.change(({ tokens }) => tokens.remove('bob'))
    expect(await two.adoptFiles(other)).toBe(0)
    const ring = two.known.ring(() => undefined)
    expect(ring.holderOf(kept)).toMatchObject({ name: 'ada-2', role: 'read' })
    expect(ring.holderOf(gone)).toBeUndefined()
    expect(ring.holderOf(paired.token)).toMatchObject({ name: 'phone' })
    await close()
  })
})

describe.concurrent('clients of two nodes', () => {
  interface Two {
    readonly nodes: readonly [TestNode, TestNode]
    readonly ports: readonly [number, number]
  }

  async function startTwo(): Promise<Two> {
    const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
    expect(await parley(['cluster', 'init'], { home: freshDirectory(), env })).toMatchObject({ code: 0 })
    const ports = [await freePort(), await freePort()] as const
    const start = (name: string, port: number) => TestNode.start(name, { ...env, PARLEY_LISTEN: String(port) })
    return { nodes: await Promise.all([start('one', ports[0]), start('two', ports[1])]), ports }
  }

  const socketAt = (port: number, secret: string) => RawWebSocket.greeted(`ws://127.0.0.1:${port}/acp`, secret)

  const statusAt = async (port: number, secret: string): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}`, accept: 'application/json' }
    return (await fetch(`http://127.0.0.1:${port}/device`, { method: 'POST', headers })).status
  }

  const pairedAt = async (port: number, code: string): Promise<Readonly<Record<string, unknown>>> => {
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`http://127.0.0.1:${port}/pair`, { ...asked, body: JSON.stringify({ code, name: 'x' }) })
    return { status: answer.status, ...(await answer.json().catch(() => ({}))) } as Readonly<Record<string, unknown>>
  }

  async function output(args: readonly string[], run: { readonly home: string; readonly env?: Environment }) {
    const { code, stdout, stderr } = await parley(args, run)
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  test.concurrent('an access token that a command makes on one machine lets in at the other at once, until it is removed there', async ({
    expect,
  }) => {
    const { nodes, ports } = await startTwo()
    const [one, two] = nodes
    const secret = (await output(['token', 'add', 'ada', '--role', 'admin'], one.run)).trim()
    const far = await socketAt(ports[1], secret)
    const near = await socketAt(ports[0], secret)
    const http = await RawHttp.greeted(`ws://127.0.0.1:${ports[1]}/acp`, secret)
    expect((await http.request('session/list', {})).result).toMatchObject({ sessions: [] })
    // Without the settings of the cluster, as where only `serve` was given its address, the command asks the node.
    const bob = (await output(['token', 'add', 'bob', '--role', 'read'], { home: two.home })).trim()
    const readers = await Promise.all(ports.map((port) => socketAt(port, bob)))
    expect(jsonLines(await output(['token', 'ls', '--json'], one.run))).toMatchObject([
      { name: 'ada' },
      { name: 'bob' },
    ])
    await output(['token', 'rm', 'ada'], two.run)
    expect((await far.closed)[0]).toBe(GONE)
    expect((await near.closed)[0]).toBe(GONE)
    await http.closed
    for (const port of ports) await expect(socketAt(port, secret)).rejects.toThrow('401')
    await output(['token', 'rm', 'bob'], { home: one.home })
    for (const reader of readers) expect((await reader.closed)[0]).toBe(GONE)
    for (const port of ports) await expect(socketAt(port, bob)).rejects.toThrow('401')
  })

  test.concurrent('a device is paired at the other node and loses its connection where it is removed, and a share link opens at both', async ({
    expect,
  }) => {
    const { nodes, ports } = await startTwo()
    const [one, two] = nodes
    const ada = await one.client()
    const offered = await ada.request('_parley/access/pair', { role: 'prompt', name: 'phone' })
    const paired = await pairedAt(ports[1], String(offered.result?.['code']))
    expect(paired).toMatchObject({ status: 200, kind: 'device', name: 'phone' })
    expect(await pairedAt(ports[0], String(offered.result?.['code']))).toMatchObject({ status: 401 })
    const device = await socketAt(ports[0], String(paired['token']))
    const sessionId = await openedBy(ada, freshDirectory())
    const shared = await ada.request('_parley/access/share', { sessionId, hours: 1 })
    const link = String(shared.result?.['code'])
    expect(await pairedAt(ports[1], link)).toMatchObject({ status: 200, kind: 'share', sessionId })
    const reader = await socketAt(ports[1], link)
    const listed = await reader.request('session/list', {})
    expect(listed.result).toMatchObject({ sessions: [{ sessionId }] })
    await output(['devices', 'rm', 'phone'], two.run)
    await output(['share', 'rm', sessionId], two.run)
    expect((await device.closed)[0]).toBe(GONE)
    expect((await reader.closed)[0]).toBe(GONE)
  })

  test.concurrent('while the database is away, who is known comes in, and who is not is asked to try again', async ({
    expect,
  }) => {
    const proxy = await new DatabaseProxy(server.directory).open()
    const env = { PARLEY_CLUSTER: proxy.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
    expect(await parley(['cluster', 'init'], { home: freshDirectory(), env })).toMatchObject({ code: 0 })
    const port = await freePort()
    const node = await TestNode.start('alone', { ...env, PARLEY_LISTEN: String(port) })
    const secret = (await output(['token', 'add', 'ada', '--role', 'admin'], node.run)).trim()
    const before = await socketAt(port, secret)
    proxy.isStalled = true
    const after = await socketAt(port, secret)
    for (const client of [before, after])
      expect((await client.request('_parley/status', {})).result).toMatchObject({ pid: node.server.child.pid })
    expect(await statusAt(port, 'parley_wrong')).toBe(503)
    await expect(socketAt(port, 'parley_wrong')).rejects.toThrow('503')
    expect(await pairedAt(port, 'x'.repeat(26))).toMatchObject({ status: 503 })
    proxy.isStalled = false
    await expect.poll(() => statusAt(port, 'parley_wrong')).not.toBe(503)
    await node.stop()
    await proxy.close()
  })
})
