/** Sections of a document by name: headings as authors write them, and the short names that lead to them in addresses. */
import { fold } from '../../../text/fold.ts'
import type { Outline } from './outline.ts'
import { type Section, sectionsOf } from './split-into-passages.ts'

export interface NamedHeading {
  readonly level: number
  readonly title: string
  readonly start: number
  readonly slug: string
}

/** Every heading with its slug; of two alike the second gets a number. */
export function namedHeadings({ headings }: Outline): readonly NamedHeading[] {
  const taken = new Map<string, number>()
  return headings
    .filter(({ title }) => title !== '')
    .map(({ level, title, start }) => {
      const base = slugOf(title)
      const times = taken.get(base) ?? 0
      taken.set(base, times + 1)
      return { level, title, start, slug: times === 0 ? base : `${base}-${times}` }
    })
}

function slugOf(title: string): string {
  return fold(title)
    .trim()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\s-]/gu, '')
    .replaceAll(/\s+/g, '-')
}

type Span = Pick<Section, 'start' | 'end'>

/** A section with all that stands under it. Named by its heading, by the headings above it too (`Setup > Linux`), or its slug. */
export function sectionNamed(outline: Outline, name: string): Span | undefined {
  return byHeading(outline, name) ?? bySlug(outline, name)
}

function byHeading(outline: Outline, name: string): Span | undefined {
  const sections = sectionsOf(outline)
  const wanted = fold(name).trim()
  const path = ({ headingPath }: Section) => fold(headingPath.join(' > '))
  const at = sections.findIndex((section) => path(section) === wanted || path(section).endsWith(` > ${wanted}`))
  const found = sections[at]
  if (found === undefined) return undefined
  const depth = found.headingPath.length
  const after = sections.slice(at + 1).find(({ headingPath }) => headingPath.length <= depth)
  return { start: found.start, end: after?.start ?? outline.text.length }
}

function bySlug(outline: Outline, name: string): Span | undefined {
  const headings = namedHeadings(outline)
  const wanted = fold(name)
  const at = headings.findIndex(({ slug }) => slug === wanted)
  const found = headings[at]
  if (found === undefined) return undefined
  const after = headings.slice(at + 1).find(({ level }) => level <= found.level)
  return { start: found.start, end: after?.start ?? outline.text.length }
}

export function sectionNames(outline: Outline): readonly string[] {
  return sectionsOf(outline)
    .map(({ headingPath }) => headingPath.join(' > '))
    .filter((path) => path !== '')
}
