/** Three nodes over a primary and its synchronous standby, and what the database has written down of who owned which session when. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { carrying, commandOf, running, until } from '../../fixtures/process/running.ts'
import { Replicas } from '../../postgres/replicas.ts'
import type { Chance } from '../../series/chance.ts'
import type { JournalRow } from '../evidence.ts'
import { ChaosNode } from './node.ts'

const SCHEMA = 'parley'
const NODES = ['one', 'two', 'three']
/** The history that the nodes themselves do not keep. */
const HISTORY = `
  CREATE SCHEMA chaos;
  CREATE TABLE chaos.claim (session text, boot text, at double precision);
  CREATE TABLE chaos.node (boot text, pid int);
  CREATE FUNCTION chaos.now() RETURNS double precision LANGUAGE sql AS 'SELECT extract(epoch FROM clock_timestamp()) * 1000';
  CREATE FUNCTION chaos.claimed() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO chaos.claim VALUES (NEW.id, NEW.boot, chaos.now()); RETURN NULL; END';
  CREATE FUNCTION chaos.entered() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO chaos.node VALUES (NEW.boot, (NEW.record::json->>''pid'')::int); RETURN NULL; END';
  CREATE TRIGGER claimed AFTER INSERT OR UPDATE OF boot ON ${SCHEMA}.session FOR EACH ROW EXECUTE FUNCTION chaos.claimed();
  CREATE TRIGGER entered AFTER INSERT ON ${SCHEMA}.node FOR EACH ROW EXECUTE FUNCTION chaos.entered();`

/** From that moment on the process owns the session; no process where none does. */
export interface Claim {
  readonly pid: number | undefined
  /** Milliseconds of the clock. */
  readonly at: number
}

/** Entries, each with the epoch of its row. */
export type OwnedRow = JournalRow & { readonly epoch: number }

export class Stage {
  readonly directory: string
  readonly replicas: Replicas
  readonly nodes: readonly ChaosNode[]

  private constructor(replicas: Replicas, nodes: readonly ChaosNode[], directory: string) {
    this.replicas = replicas
    this.nodes = nodes
    this.directory = directory
  }

  static async open(bin: string): Promise<Stage> {
    const directory = mkdtempSync(join(tmpdir(), 'parley-stage-'))
    const replicas = await Replicas.start()
    const place = { bin, schema: SCHEMA, database: () => replicas.socket }
    const nodes = await Promise.all(
      NODES.map((name) => ChaosNode.at({ ...place, name, home: join(directory, `home-${name}`) })),
    )
    const stage = new Stage(replicas, nodes, directory)
    await stage.command(['cluster', 'init'], bin)
    await replicas.primary.query(HISTORY)
    await Promise.all(nodes.map((node) => node.start()))
    return stage
  }

  /** All that was broken is whole again. */
  async whole(): Promise<void> {
    await this.replicas.whole()
    await Promise.all(this.nodes.map((node) => node.listening()))
  }

  anyNode(chance: Chance): ChaosNode {
    const [first, ...others] = this.nodes
    if (first === undefined) throw new Error('there are no nodes')
    return chance.pick([first, ...others])
  }

  /** Undefined while no process of this stage has it. */
  async owner(session: string): Promise<ChaosNode | undefined> {
    const pid = (await this.claims(session)).at(-1)?.pid
    return this.nodes.find((node) => node.pid === pid)
  }

  async claims(session: string): Promise<readonly Claim[]> {
    const rows = await this.replicas.primary.query(
      'SELECT n.pid, c.at FROM chaos.claim c LEFT JOIN chaos.node n ON n.boot = c.boot WHERE c.session = $1 ORDER BY c.at',
      [session],
    )
    return rows.map(({ pid, at }) => ({ pid: pid === null ? undefined : Number(pid), at: Number(at) }))
  }

  async journal(session: string): Promise<readonly OwnedRow[]> {
    const rows = await this.replicas.primary.query(
      `SELECT e.first, e.epoch, e.body FROM ${SCHEMA}.entry e JOIN ${SCHEMA}.session s ON s.key = e.session WHERE s.id = $1 ORDER BY e.first`,
      [session],
    )
    return rows.flatMap(({ first, epoch, body }) =>
      bodiesIn(String(body)).map((text, index) => ({
        seq: Number(first) + index,
        epoch: Number(epoch),
        body: JSON.parse(text) as JournalRow['body'],
      })),
    )
  }

  /** A command on the machine of the first node, to its end. */
  async command(args: readonly string[], bin: string): Promise<void> {
    const child = spawn(process.execPath, [bin, ...args], { env: this.nodes[0]?.env, stdio: 'ignore' })
    await once(child, 'close')
  }

  /** Those of sessions that were opened below the directory. */
  tools(directory = this.directory): readonly number[] {
    return running(`appending-server.sh\0${directory}/`)
  }

  /** All nodes are stopped in order; gives the processes that stay all the same, each with what it runs. */
  async empty(): Promise<readonly string[]> {
    await Promise.all(this.nodes.map((node) => node.end()))
    const stay = () => [...this.nodes.flatMap(({ home }) => carrying(`PARLEY_HOME=${home}`)), ...this.tools()]
    await until(() => stay().length === 0, 15_000).catch(() => undefined)
    return stay().map((pid) => `${pid} (${commandOf(pid)})`)
  }

  traces(): string {
    return this.nodes.map((node) => node.traces()).join('\n  ')
  }

  async close(keep = false): Promise<void> {
    for (const node of this.nodes) node.close()
    for (const pid of this.tools()) process.kill(pid, 'SIGKILL')
    await this.replicas.close()
    if (!keep) await rm(this.directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Read without any code of ours: bundles of lines, each of which begins with how many entries it has. */
function bodiesIn(text: string): readonly string[] {
  const lines = (text.startsWith('\u0001') ? (JSON.parse(text.slice(1)) as string) : text).split('\n')
  const bodies: string[] = []
  for (let at = 0; at < lines.length;) {
    const [count = 1] = (lines[at] ?? '').split(' ', 1).map(Number)
    const isJson = (lines[at] ?? '').endsWith(' json')
    const [beginning = '', ending = '', , ...rest] = lines.slice(at + 1)
    if (count === 1) bodies.push(isJson ? (JSON.parse(beginning) as string) : beginning)
    else bodies.push(...rest.slice(0, count).map((middle) => beginning + middle + ending))
    at += count === 1 ? 2 : 4 + count
  }
  return bodies
}
