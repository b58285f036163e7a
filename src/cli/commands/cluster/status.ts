/** `parley cluster status`: the live nodes, as the database knows them, and what an acknowledgement means there. */
import type { ClusterSettings } from '../../../config/settings.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import {
  type CheckedDatabase,
  type ListedNode,
  clusterFitness,
  clusterNodes,
} from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import { ago } from '../../output/terminal/pace.ts'
import { oneLine, widthOf } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'
import { databaseLines } from './database-lines.ts'

const HEADINGS = ['NODE', 'STATE', 'SESSIONS', 'APPENDS p50, p99', 'SERVES', 'STARTED', 'VERSION', 'PID', 'CLIENTS AT']
const MB = 1_000_000

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  const nodes = await clusterNodes(cluster)
  if (input.options['json'] === true) for (const node of nodes) printJson(node)
  else for (const line of await linesOf(cluster, nodes)) process.stdout.write(`${line}\n`)
  if (nodes.length === 0)
    process.stderr.write('No node serves this cluster; start one with: parley serve --cluster ADDRESS\n')
  return OK
}

async function linesOf(cluster: ClusterSettings, nodes: readonly ListedNode[]): Promise<readonly string[]> {
  const table = nodes.length === 0 ? [] : [...aligned([HEADINGS, ...nodes.map(cellsOf)]), '']
  return [...table, ...(await databasesOf(cluster))]
}

function cellsOf(node: ListedNode): readonly string[] {
  const { name, sessions, working, appendMs, serves, labels = {}, version, pid, listen } = node
  const purpose = [...(serves ?? ['all']), ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)]
  return [
    name,
    node.isDraining ? 'drains' : 'serves',
    working === 0 ? String(sessions) : `${sessions}, ${working} working`,
    appendMs === undefined ? '-' : `${appendMs.p50} ms, ${appendMs.p99} ms`,
    purpose.join(' '),
    ago(new Date(node.startedAt)),
    version,
    String(pid),
    listen.length === 0 ? '-' : listen.join(' '),
  ]
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => oneLine(cell)))
  const widths = HEADINGS.map((_, column) => Math.max(...shown.map((row) => widthOf(row[column] ?? ''))))
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))
  return shown.map((row) => row.map(padded).join('  ').trimEnd())
}

/** Where one is refused, why. */
async function databasesOf(cluster: ClusterSettings): Promise<readonly string[]> {
  try {
    const databases = await clusterFitness(cluster)
    return databases.flatMap((database) => databaseLines(database).concat(sizeLine(database)))
  } catch (error) {
    if (isParleyError(error)) return [error.message]
    throw error
  }
}

function sizeLine({ sessions, bytes }: CheckedDatabase): string {
  return `  ${sessions} ${sessions === 1 ? 'session' : 'sessions'} stored, ${(bytes / MB).toFixed(1)} MB`
}
