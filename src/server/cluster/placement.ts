/** Chooses the node of a new session: by its directory, by labels, and by the load of the nodes. Pure. */
import { fitsPath } from '../../path-rules/path-rules.ts'

/** What a node says it is for. */
export interface NodePurpose {
  readonly name: string
  /** Directories, with all below them, or patterns of such; absent: every directory. */
  readonly serves?: readonly string[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

export interface PlacedNode extends NodePurpose {
  /** Empty where other nodes cannot reach it. */
  readonly address: string
  readonly sessions: number
  readonly working: number
  readonly isDraining: boolean
}

/** What a session needs of its node. */
export interface Wish {
  readonly cwd: string
  readonly node?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** A node whose purpose suits the wish. Paths are compared as they are written: nodes that serve one path have the same files there. */
export function suits({ name, serves, labels = {} }: NodePurpose, wish: Wish): boolean {
  const isNamed = wish.node === undefined || wish.node === name
  const isLabelled = Object.entries(wish.labels ?? {}).every(([label, value]) => labels[label] === value)
  return isNamed && isLabelled && (serves === undefined || serves.some((pattern) => fitsPath(pattern, wish.cwd)))
}

/** That of two drawn ones which has less to do, so that not all go to the same one before it says so. `draw` answers less than it is asked for. */
export function lessBusy<Node extends PlacedNode>(
  nodes: readonly Node[],
  draw: (below: number) => number,
): Node | undefined {
  const first = nodes[draw(nodes.length)]
  const second = nodes.filter((node) => node !== first)[draw(Math.max(1, nodes.length - 1))]
  if (first === undefined || second === undefined) return first
  const more = second.working - first.working || second.sessions - first.sessions
  return more < 0 ? second : first
}

/** For a sentence. */
export function wished({ cwd, node, labels = {} }: Wish): string {
  const named = node === undefined ? '' : ` and is called ${node}`
  const labelled = Object.entries(labels).map(([label, value]) => `${label}=${value}`)
  return `${cwd}${labelled.length === 0 ? '' : ` with ${labelled.join(', ')}`}${named}`
}
