/** Plans of a query: full-text expressions that require all words first, then some of them. */
import { asOnePhrase, type QueryPart, parseQuery, phrase } from '../../../text/query.ts'
import { queriesFor } from '../../../text/keyword-queries.ts'
import type { SearchDocumentsRequest } from '../worker/protocol.ts'
import { simplified } from './traditional-to-simplified.ts'
import { stemsOf } from './stems.ts'

/** One thing that must occur: as it is written, or, where it is English, in another form of the word. */
export interface Term {
  readonly part: QueryPart
  /** Empty where only the exact form counts. */
  readonly stems: readonly string[]
}

export interface Plan {
  readonly match: 'all' | 'phrase' | 'some'
  readonly terms: readonly Term[]
  /** The full-text expression that a passage must match. */
  readonly expression: string
  /** Expressions that make a passage a better answer, each with its weight. */
  readonly bonuses: readonly Bonus[]
  /** With fewer passages than this the next plan is tried. */
  readonly enough: number
}

export interface Bonus {
  readonly expression: string
  readonly weight: number
}

/** How close together words are that are near each other. */
const NEAR_WORDS = 12
/** A page. With fewer passages that have all words, others follow them. */
const ENOUGH_PASSAGES = 10
const BONUS = { phrase: 1, near: 0.5, heading: 1.5, title: 0.5, word: 1, pair: 0.5, all: 2 } as const
const MAX_PAIRS = 16

/** In the order in which they are tried. */
export function plansFor({ query, mode }: Pick<SearchDocumentsRequest, 'query' | 'mode'>): readonly Plan[] {
  if (mode === 'phrase') return [phrasePlan(parseQuery(simplified(query)))]
  const terms = termsOf(query)
  return mode === 'all' ? [strictPlan(terms)] : [...allPlans(terms), ...somePlans(query, terms)]
}

/** The terms of a query, in whatever part of a document each may be. */
export function termsOf(query: string): readonly Term[] {
  const terms = simplified(query)
    .split(/\s+/)
    .flatMap((written) => parseQuery(written).map((part, _, { length }) => termOf(part, length === 1 ? written : '')))
  // Duplicate terms are searched once.
  return [...new Map(terms.map((term) => [phrase(term.part), term])).values()]
}

/** The term as it was written, because capitals separate the parts of an identifier. */
function termOf(part: QueryPart, written: string): Term {
  const latin = part.tokens.every((token) => /^[a-z0-9_]+$/.test(token)) && !part.prefix
  return { part, stems: latin ? stemsOf(written).map(({ stem }) => stem) : [] }
}

function phrasePlan(parts: readonly QueryPart[]): Plan {
  const part = {
    tokens: parts.flatMap(({ tokens }) => tokens),
    breakBefore: parts.flatMap(({ breakBefore }) => breakBefore),
    prefix: parts.at(-1)?.prefix ?? false,
  }
  const term = { part, stems: [] }
  const expression = `{heading text} : ${phrase(part)}`
  return { match: 'phrase', terms: [term], expression, bonuses: inTitles([term]), enough: 1 }
}

/** Everything occurs in the passage itself. */
function strictPlan(terms: readonly Term[]): Plan {
  const bonuses = [...closeness(terms), ...inTitles(terms)]
  return { match: 'all', terms, expression: terms.map(inPassage).join(' AND '), bonuses, enough: 1 }
}

/** Everything occurs in the passage or in the titles that it stands under: first where something is in the passage itself. */
function allPlans(terms: readonly Term[]): readonly Plan[] {
  const everything = terms.map(anywhere).join(' AND ')
  const something = terms.map(inPassage).join(' OR ')
  const bonuses = [...closeness(terms), ...inTitles(terms)]
  const first = terms.length === 1 ? something : `(${everything}) AND (${something})`
  return [first, everything].map((expression) => ({
    match: 'all',
    terms,
    expression,
    bonuses,
    enough: ENOUGH_PASSAGES,
  }))
}

/** Plans with more of the words come first. Parts of a run that are in no dictionary become pairs of characters. */
function somePlans(query: string, terms: readonly Term[]): readonly Plan[] {
  const words = termsOf(queriesFor(simplified(query))[0] ?? '')
  const pairs = terms.flatMap(({ part }) => characterPairs(part))
  const everything = terms.map(anywhere).join(' AND ')
  const neighbours = pairs.slice(0, MAX_PAIRS).map((pair) => ({ expression: anywhere(pair), weight: BONUS.pair }))
  const plan = (some: readonly Term[]): Plan => ({
    match: 'some',
    terms: some,
    // A run of characters also counts as a whole. Stop words are left out, because nearly every passage contains them.
    expression: [...some, ...(terms.length === 1 ? terms : [])].map(anywhere).join(' OR '),
    bonuses: [
      { expression: everything, weight: BONUS.all },
      ...some.map((term) => ({ expression: anywhere(term), weight: BONUS.word })),
      ...neighbours,
      ...closeness(some),
      ...inTitles(some),
    ],
    enough: 1,
  })
  return [
    ...(words.length > 0 && !isSame(words, terms) ? [plan(words)] : []),
    ...(pairs.length > 0 ? [plan(pairs)] : []),
  ]
}

/** One word: nothing less than all of it can be looked for. */
function isSame(words: readonly Term[], terms: readonly Term[]): boolean {
  const written = (all: readonly Term[]) => all.map(({ part }) => phrase(part)).join(' ')
  return terms.length === 1 && written(words) === written(terms)
}

/** Each pair of neighbours in a long run of unspaced characters, used when no dictionary knows its words. */
function characterPairs({ tokens, breakBefore }: QueryPart): readonly Term[] {
  if (tokens.length < 3) return []
  return tokens.slice(1).flatMap((token, i) => {
    const before = tokens[i] ?? ''
    if (breakBefore[i + 1] === true || !/\p{sc=Han}/u.test(before + token)) return []
    return [{ part: { tokens: [before, token], breakBefore: [false, false], prefix: false }, stems: [] }]
  })
}

function closeness(terms: readonly Term[]): readonly Bonus[] {
  if (terms.length < 2) return []
  const parts = terms.map(({ part }) => part)
  const near = `NEAR(${parts.map(phrase).join(' ')}, ${NEAR_WORDS})`
  return [
    { expression: `{heading text} : ${asOnePhrase(parts)}`, weight: BONUS.phrase },
    { expression: `{heading text} : ${near}`, weight: BONUS.near },
  ]
}

/** A heading names the subject of its section. A title does so for more passages, so it counts less. */
function inTitles(terms: readonly Term[]): readonly Bonus[] {
  return terms.flatMap(({ part, stems }) => [
    {
      expression: either(`{heading} : ${phrase(part)}`, 'headingStems', stems),
      weight: BONUS.heading / terms.length,
    },
    { expression: either(`{title} : ${phrase(part)}`, 'titleStems', stems), weight: BONUS.title / terms.length },
  ])
}

/** In the passage or in the titles that it stands under. */
function anywhere({ part, stems }: Term): string {
  return either(`{title heading text} : ${phrase(part)}`, '{titleStems headingStems stems}', stems)
}

export function inPassage({ part, stems }: Term): string {
  return either(`{heading text} : ${phrase(part)}`, '{headingStems stems}', stems)
}

function either(exact: string, columns: string, stems: readonly string[]): string {
  return stems.length === 0 ? `(${exact})` : `(${exact} OR ${columns} : "${stems.join(' ')}")`
}
