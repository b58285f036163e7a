/** Nodes of a cluster on this machine, on a PostgreSQL of their own. */
import { freshDirectory, scriptAgent } from '../../test/e2e/parley.ts'
import type { RawSocket } from '../../test/e2e/raw-socket.ts'
import { systemClock } from '../../src/adapters/clock.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { TestNode, openedBy } from '../../test/postgres/nodes.ts'
import { PostgresServer } from '../../test/postgres/server.ts'

export class NodeStage {
  readonly nodes: readonly TestNode[]
  readonly #server: PostgresServer

  private constructor(server: PostgresServer, nodes: readonly TestNode[]) {
    this.#server = server
    this.nodes = nodes
  }

  static async of(count: number): Promise<NodeStage> {
    const server = await PostgresServer.start()
    const schema = server.schema()
    await initCluster({ urls: [server.url], schema }, systemClock.id())
    const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: schema }
    const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
    return new NodeStage(server, await Promise.all(names.map((name) => TestNode.start(name, env))))
  }

  node(index: number): TestNode {
    const node = this.nodes[index % this.nodes.length]
    if (node === undefined) throw new Error('a stage without nodes')
    return node
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
    await this.#server.close()
  }
}

/** An agent of words, `times` a turn. */
export function words(times: number): Promise<string> {
  return scriptAgent(freshDirectory(), [{ chunk: 'word {n} ', times }])
}

export async function sessionAt(node: TestNode, agent: string): Promise<{ client: RawSocket; opening: Opening }> {
  const client = await node.client({ agent })
  const cwd = freshDirectory()
  return { client, opening: { sessionId: await openedBy(client, cwd), cwd, mcpServers: [] } }
}

export interface Opening {
  readonly [name: string]: unknown
  readonly sessionId: string
  readonly cwd: string
  readonly mcpServers: readonly never[]
}

export async function turn(client: RawSocket, sessionId: string): Promise<number> {
  const begun = performance.now()
  const { error } = await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Go' }] })
  if (error !== undefined) throw new Error(error.message)
  return performance.now() - begun
}
