/** Which places of the disk the words of a command line may name, however they are spelled. */
import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type SimpleCommand, UNKNOWN } from './parse.ts'

/** Words of a line that are followed to where they really lead; of the others the words themselves decide. */
const MOST_FOLLOWED = 400
/** Directories that a line goes to before it names something. */
const MOST_BASES = 6

/** Programs that go through directories by themselves, and those that do when told so. */
const DEEP = /^(?:rg|ag|ack|find|fd|fdfind|tree|tar|bsdtar|rsync|7z|cpio|pax|rclone|restic|borg|ncdu|du)$/u
const DEEP_WHEN_TOLD = /^(?:[ef]?grep|zgrep|ls|cp|mv|diff|chmod|chown|chgrp|scp|zip|gzip|cat)$/u

/** Absolute places, where `*` stands for letters of a name and `**` for any names. */
export async function placesNamed(shapes: readonly string[], cwd: string): Promise<readonly string[]> {
  const pieces = [...new Set(shapes.flatMap(piecesOf))]
  const bases = basesFrom(shapes, cwd)
  const places = [...new Set(pieces.flatMap((piece) => startsOf(piece, bases).map((base) => placeOf(piece, base))))]
  const followed = await Promise.all(places.slice(0, MOST_FOLLOWED).map(real))
  return [...new Set([...followed, ...places])].map(asPattern)
}

export function isDeep({ words }: SimpleCommand): boolean {
  const names = words.map((word) => basename(word))
  return (
    names.some((name) => DEEP.test(name)) ||
    (names.some((name) => DEEP_WHEN_TOLD.test(name)) &&
      words.some((word) => /^(?:-\w*[rRa]\w*|--(?:recursive|archive|dereference-recursive))$/u.test(word)))
  )
}

/** A word, what stands behind `=`, `:`, `@` or an option in it, and what stands between blanks in a text that it quotes. */
function piecesOf(shape: string): readonly string[] {
  const parts = shape.split(/[\s'"`;|&<>(),=:@]+/u).filter((part) => part !== '')
  const inOptions = parts.flatMap((part) => (/^-[^/~]*[/~]/u.test(part) ? [part.slice(part.search(/[/~]/u))] : []))
  return [shape, ...parts, ...inOptions].map(marked)
}

/** The home directory, as a text within quotes names it to another shell. */
function marked(piece: string): string {
  return piece
    .replace(/^(?:~|\$\{?HOME\}?)(?=\/|$)/u, UNKNOWN.home)
    .replace(/^\$\{?PWD\}?(?=\/|$)/u, UNKNOWN.here)
    .replace(/^\/proc\/[^/]+\/root(?=\/)/u, '')
}

/** The directories that relative words may start from: where the line begins, and where it goes with `cd` or `-C`. */
function basesFrom(shapes: readonly string[], cwd: string): readonly string[] {
  const gone = shapes.filter((_shape, at) => /^(?:cd|pushd|-C|--directory)$/u.test(shapes[at - 1] ?? ''))
  let bases: readonly string[] = [cwd]
  for (const shape of gone) {
    const further = bases.map((base) => placeOf(marked(shape), base))
    bases = bases.concat(further).slice(0, MOST_BASES)
  }
  return bases
}

/** What is absolute is the same from everywhere. */
function startsOf(piece: string, bases: readonly string[]): readonly string[] {
  return piece.startsWith('/') || piece.startsWith(UNKNOWN.home) ? bases.slice(0, 1) : bases
}

function placeOf(piece: string, base: string): string {
  const first = piece.charAt(0)
  if (first === UNKNOWN.home) return join(homedir(), piece.slice(1))
  if (first === UNKNOWN.here) return join(base, piece.slice(1))
  // A variable at its beginning may be any directory.
  return first === UNKNOWN.text ? join('/', piece) : resolve(base, piece)
}

/** Where it leads, as far as that exists and the line tells it. */
async function real(place: string): Promise<string> {
  const parts = place.split('/')
  const unknown = parts.findIndex((part) => part.includes(UNKNOWN.name) || part.includes(UNKNOWN.text))
  const known = unknown < 0 ? place : parts.slice(0, unknown).join('/') || '/'
  return join(await realOrNearest(known), ...(unknown < 0 ? [] : parts.slice(unknown)))
}

async function realOrNearest(place: string): Promise<string> {
  if (place.includes('\0')) return place
  const names: string[] = []
  for (let at = place; at !== dirname(at); at = dirname(at)) {
    const found = await realpath(at).catch(() => undefined)
    if (found !== undefined) return join(found, ...names)
    names.unshift(basename(at))
  }
  return place
}

function asPattern(place: string): string {
  const names = place
    .split('/')
    .map((name) => (name.includes(UNKNOWN.text) ? '**' : name.replaceAll(UNKNOWN.name, '*')))
  return names.join('/')
}
