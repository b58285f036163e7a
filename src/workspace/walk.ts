/** Goes through a directory and what is below it, without following links and without what is ignored. */
import { refuse } from './refuse.ts'
import type { Signal } from '../ports/signal.ts'
import { MAX_IGNORE_FILE_BYTES } from '../text/ignore-rules.ts'
import { bytesAt, readBytes } from './files.ts'
import { IGNORE_FILES, type Ignoring, NOTHING_IGNORED, usuallyIgnored } from './ignore.ts'
import { type Entry, namesIn } from './names.ts'
import { type Root, routeTo, shortly } from './root-set.ts'
import { type Held, type Place, at, goBelow, lookAt } from './resolve.ts'

export interface Strolling {
  readonly roots: readonly Root[]
  /** Levels. */
  readonly depth: number
  /** Also what is ignored. */
  readonly ignored: boolean
  readonly signal: Signal
  /** Whether a real path is passed over, with all that is below it. */
  readonly passes: (real: string) => boolean
}

/** Something on the way, while its directory is held. */
export interface Met extends Entry {
  readonly held: Held
  /** From where the stroll began, with slashes. */
  readonly way: string
  /** 0 for what is in the directory where it began. */
  readonly depth: number
}

/** Names in a directory that nobody can say. */
export interface Unnameable {
  readonly kind: 'unnameable'
  readonly count: number
}

/** In the order of their names, what is in a directory right after it. Throws FILE_MISSING and PATH_OUTSIDE_ROOTS. */
export async function stroll(
  path: string,
  strolling: Strolling,
  meet: (met: Met | Unnameable) => Promise<'on' | 'enough'>,
): Promise<void> {
  const { roots } = strolling
  await at(path, { roots }, async (place) => {
    const shown = shortly(place.real, roots)
    if (place.found === undefined) refuse(`There is no directory ${shown}.`)
    if (!place.found.isDirectory()) refuse(`${shown} is not a directory. Use read_file.`)
    const { ignoring, base } = await ignoringFor(place, strolling)
    const held = place.name === '' ? place.held : await goBelow(place.held, place.name, roots)
    if (held === undefined) return refuse(`${shown} cannot be opened.`)
    try {
      await visit({ held, way: '', depth: 0 }, { ...strolling, base, meet }, ignoring)
    } finally {
      await held.handle.close()
    }
  })
}

interface Here {
  readonly held: Held
  readonly way: string
  readonly depth: number
}

interface Visiting extends Strolling {
  /** Where the stroll began, from its root on. */
  readonly base: string
  readonly meet: (met: Met | Unnameable) => Promise<'on' | 'enough'>
}

async function visit(here: Here, visiting: Visiting, above: Ignoring): Promise<'on' | 'enough'> {
  const { held, way, depth } = here
  const { entries, unnameable } = await namesIn(held)
  const base = joined(visiting.base, way)
  const rules = visiting.ignored ? [] : await ignoreRulesIn(held, entries, visiting.roots)
  const ignoring = above.below(base, rules)
  if (unnameable > 0) await visiting.meet({ kind: 'unnameable', count: unnameable })
  for (const entry of entries) {
    if (visiting.signal.aborted) return 'enough'
    if (ignoring.ignores(joined(base, entry.name), entry.kind === 'directory')) continue
    if (visiting.passes(joined(held.real, entry.name))) continue
    const met = { ...entry, held, way: joined(way, entry.name), depth }
    if ((await visiting.meet(met)) === 'enough') return 'enough'
    if ((await descend(met, visiting, ignoring)) === 'enough') return 'enough'
  }
  return 'on'
}

async function descend({ held, name, way, depth, kind }: Met, visiting: Visiting, ignoring: Ignoring) {
  if (kind !== 'directory' || depth + 1 >= visiting.depth) return 'on'
  const below = await goBelow(held, name, visiting.roots)
  // It has gone, has become something else, or may not be read.
  if (below === undefined) return 'on'
  try {
    return await visit({ held: below, way, depth: depth + 1 }, visiting, ignoring)
  } finally {
    await below.handle.close()
  }
}

/** The rules of the directories above hold, except for what was asked for by its name. */
async function ignoringFor(
  { real }: Place,
  { roots, ignored }: Strolling,
): Promise<{ readonly ignoring: Ignoring; readonly base: string }> {
  const { root, names } = routeTo(real, roots)
  const base = names.join('/')
  if (ignored) return { ignoring: NOTHING_IGNORED, base }
  let ignoring = usuallyIgnored()
  for (const index of names.keys()) {
    const above = names.slice(0, index).join('/')
    const texts = await Promise.all(IGNORE_FILES.map((name) => textAt(joined(joined(root.real, above), name), roots)))
    ignoring = ignoring.below(above, texts.flat())
    if (ignoring.ignores(names.slice(0, index + 1).join('/'), true)) return { ignoring: NOTHING_IGNORED, base }
  }
  return { ignoring, base }
}

async function textAt(path: string, roots: readonly Root[]): Promise<readonly string[]> {
  // Most directories have none, and one that cannot be read says nothing.
  const read = await readBytes(path, roots, MAX_IGNORE_FILE_BYTES).catch(() => undefined)
  return read === undefined ? [] : [read.bytes.toString('utf8')]
}

/** The texts of the ignore files in a directory that is held. One that cannot be read says nothing. */
export async function ignoreRulesIn(
  held: Held,
  entries: readonly Entry[],
  roots: readonly Root[],
): Promise<readonly string[]> {
  const names = IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.kind === 'file'))
  const texts = names.map(async (name) => {
    const place = await lookAt(held, name)
    const bytes = await bytesAt(place, { roots, limit: MAX_IGNORE_FILE_BYTES }).catch(() => undefined)
    return bytes === undefined ? [] : [bytes.toString('utf8')]
  })
  return (await Promise.all(texts)).flat()
}

function joined(base: string, name: string): string {
  if (base === '') return name
  return name === '' ? base : `${base}/${name}`
}
