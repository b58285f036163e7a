/** Three nodes are replaced one after the other while many sessions work: no turn is interrupted, and no client is told of an error. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endServers, parley } from '../e2e/cli.ts'
import type { Message } from '../e2e/message.ts'
import { freshDirectory, scriptAgent } from '../e2e/parley.ts'
import { until } from '../fixtures/process/running.ts'
import { Goer } from '../kill/chaos/goer.ts'
import { chanceOf } from '../series/chance.ts'
import { TestNode, openedBy } from './nodes.ts'
import { PostgresServer } from './server.ts'

const SESSIONS = 50
const TALK = [{ chunk: 'w{n} ', times: 20, everyMs: 50 }]

endServers()

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

test('an upgrade of three nodes, one after the other, under 50 sessions at work', async () => {
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const names = ['one', 'two', 'three'] as const
  const nodes = await Promise.all(names.map((name) => TestNode.start(name, env)))
  const agent = await scriptAgent(freshDirectory(), TALK)
  const chance = chanceOf(1)
  const any = () => nodes[chance.between(0, nodes.length - 1)] ?? expect.fail('there are nodes')
  const people = await Promise.all(Array.from({ length: SESSIONS }, () => Person.at(any, agent)))
  const over = new AbortController()
  const talking = people.map(async (person) => {
    let turns = 0
    for (; !over.signal.aborted; turns += 1) await person.talk(`p${turns}`)
    return turns
  })
  for (const node of nodes) {
    expect(await parley(['cluster', 'drain', node.name], node.run)).toMatchObject({ code: 0, stderr: '' })
    await node.stop()
    await node.start()
  }
  over.abort()
  const turns = await Promise.all(talking)
  expect(turns.every((count) => count >= 3)).toBe(true)
  const errors = people.flatMap(({ goer: { received } }) => received.filter(({ error }) => error !== undefined))
  expect(errors).toEqual([])
  const rows = await server.query(`SELECT count(*) AS n FROM ${env.PARLEY_CLUSTER_SCHEMA}.entry WHERE body LIKE $1`, [
    '%"interrupted"%',
  ])
  expect(rows).toEqual([{ n: '0' }])
  for (const person of people) person.goer.leave()
})

/** A client at some node, and at another one when that stops. */
class Person {
  readonly goer: Goer
  /** The connection whose server has said that it stops: nothing more is sent there. */
  readonly #stopping: () => unknown
  readonly #current: () => unknown

  private constructor(goer: Goer, stopping: () => unknown, current: () => unknown) {
    this.goer = goer
    this.#stopping = stopping
    this.#current = current
  }

  static async at(any: () => TestNode, agent: string): Promise<Person> {
    const cwd = freshDirectory()
    const first = await any().client({ agent })
    const opening = { sessionId: await openedBy(first, cwd), cwd, mcpServers: [] }
    let stopping: unknown
    let current: unknown
    const heard = ({ method, params }: Message, on: unknown): void => {
      current = on
      if (method === '_parley/server' && params?.['state'] === 'stopping') stopping = on
    }
    const goer = await Goer.visit(() => any().client({ notifications: ['server'] }), opening, heard)
    await first.leave()
    return new Person(
      goer,
      () => stopping,
      () => current,
    )
  }

  /** One turn, whole. */
  async talk(id: string): Promise<void> {
    await until(() => this.#stopping() === undefined || this.#stopping() !== this.#current())
    this.goer.prompt(id, id, 'Talk')
    await this.goer.answered(id)
  }
}
