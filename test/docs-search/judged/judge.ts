/** Judges searches over the same passages: what of the wanted is among the first ten, and how far up. */
import { readFileSync } from 'node:fs'

export interface Query {
  readonly group: 'english' | 'chinese' | 'mixed'
  readonly half: 'tuning' | 'held out'
  readonly query: string
  readonly relevant: readonly Wanted[]
}

/** A document, or the section of it under a heading that has these words. */
interface Wanted {
  readonly file: string
  readonly heading?: string
}

export interface Hit {
  readonly file: string
  readonly headingPath: readonly string[]
}

/** The best ten, or fewer. */
export type SearchSystem = (query: string) => Promise<readonly Hit[]>

export interface Score {
  readonly queries: number
  /** Of what is wanted, how much is among the first ten. */
  readonly recall: number
  /** The same, but what stands further up counts more. */
  readonly ndcg: number
  /** For how many queries nothing was found at all. */
  readonly empty: readonly string[]
}

const TOP = 10

export function queries(): readonly Query[] {
  const text = readFileSync(new URL('queries.jsonl', import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Query)
}

export async function judge(search: SearchSystem, asked: readonly Query[]): Promise<Score> {
  const empty: string[] = []
  let [recall, ndcg] = [0, 0]
  for (const { query, relevant } of asked) {
    const hits = (await search(query)).slice(0, TOP)
    if (hits.length === 0) empty.push(query)
    const ranks = relevant.map((wanted) => hits.findIndex((hit) => answers(hit, wanted)))
    const found = ranks.filter((rank) => rank >= 0)
    recall += found.length / Math.min(relevant.length, TOP)
    ndcg += gain(distinct(found)) / gain(relevant.slice(0, TOP).map((_, rank) => rank))
  }
  return { queries: asked.length, recall: recall / asked.length, ndcg: ndcg / asked.length, empty }
}

function answers(hit: Hit, { file, heading }: Wanted): boolean {
  return hit.file === file && (heading === undefined || hit.headingPath.some((title) => title.includes(heading)))
}

/** A hit that answers two of the wanted counts once, so that no ranking is better than the best. */
function distinct(ranks: readonly number[]): readonly number[] {
  return [...new Set(ranks)]
}

function gain(ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 2), 0)
}
