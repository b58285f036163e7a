/** The paths that the words of a command line may name, however they are written. Permission rules are checked against them. */
import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type SimpleCommand, UNKNOWN } from './parse.ts'

/** So many paths are resolved through links; beyond that only the words themselves count. */
const MAX_RESOLVED = 400
/** Directories that a line changes to, as starting points of relative paths. */
const MAX_BASES = 6

/** Programs that walk directories always, and those that do with an option. */
const WALKERS = /^(?:rg|ag|ack|find|fd|fdfind|tree|tar|bsdtar|rsync|7z|cpio|pax|rclone|restic|borg|ncdu|du)$/u
const WALKERS_WITH_OPTION = /^(?:[ef]?grep|zgrep|ls|cp|mv|diff|chmod|chown|chgrp|scp|zip|gzip|cat)$/u

/** Absolute path patterns: `*` stands for characters of one name, `**` for any number of names. */
export async function pathsNamed(shapes: readonly string[], cwd: string): Promise<readonly string[]> {
  const pieces = [...new Set(shapes.flatMap(piecesOf))]
  const bases = basesFrom(shapes, cwd)
  const paths = [...new Set(pieces.flatMap((piece) => startsOf(piece, bases).map((base) => pathFrom(piece, base))))]
  const followed = await Promise.all(paths.slice(0, MAX_RESOLVED).map(resolveLinks))
  return [...new Set([...followed, ...paths])].map(asPattern)
}

export function isDeep({ words }: SimpleCommand): boolean {
  const names = words.map((word) => basename(word))
  return (
    names.some((name) => WALKERS.test(name)) ||
    (names.some((name) => WALKERS_WITH_OPTION.test(name)) &&
      words.some((word) => /^(?:-\w*[rRa]\w*|--(?:recursive|archive|dereference-recursive))$/u.test(word)))
  )
}

/** The word itself, the parts of it after `=`, `:`, `@` or an option, and the words of a text that it quotes. */
function piecesOf(shape: string): readonly string[] {
  const parts = shape.split(/[\s'"`;|&<>(),=:@]+/u).filter((part) => part !== '')
  const inOptions = parts.flatMap((part) => (/^-[^/~]*[/~]/u.test(part) ? [part.slice(part.search(/[/~]/u))] : []))
  return [shape, ...parts, ...inOptions].map(markDirectories)
}

/** Marks the home and current directory where a quoted text names them for another shell. */
function markDirectories(piece: string): string {
  return piece
    .replace(/^(?:~|\$\{?HOME\}?)(?=\/|$)/u, UNKNOWN.home)
    .replace(/^\$\{?PWD\}?(?=\/|$)/u, UNKNOWN.here)
    .replace(/^\/proc\/[^/]+\/root(?=\/)/u, '')
}

/** The directories that relative paths may start from: the working directory, and where `cd` or `-C` leads. */
function basesFrom(shapes: readonly string[], cwd: string): readonly string[] {
  const targets = shapes.filter((_shape, at) => /^(?:cd|pushd|-C|--directory)$/u.test(shapes[at - 1] ?? ''))
  let bases: readonly string[] = [cwd]
  for (const shape of targets) {
    const further = bases.map((base) => pathFrom(markDirectories(shape), base))
    bases = bases.concat(further).slice(0, MAX_BASES)
  }
  return bases
}

/** An absolute path is the same from every base. */
function startsOf(piece: string, bases: readonly string[]): readonly string[] {
  return piece.startsWith('/') || piece.startsWith(UNKNOWN.home) ? bases.slice(0, 1) : bases
}

function pathFrom(piece: string, base: string): string {
  const first = piece.charAt(0)
  if (first === UNKNOWN.home) return join(homedir(), piece.slice(1))
  if (first === UNKNOWN.here) return join(base, piece.slice(1))
  // A variable at the beginning may hold any directory.
  return first === UNKNOWN.text ? join('/', piece) : resolve(base, piece)
}

/** The real path, as far as it exists and is known from the line. */
async function resolveLinks(path: string): Promise<string> {
  const parts = path.split('/')
  const unknown = parts.findIndex((part) => part.includes(UNKNOWN.name) || part.includes(UNKNOWN.text))
  const known = unknown < 0 ? path : parts.slice(0, unknown).join('/') || '/'
  return join(await resolveNearest(known), ...(unknown < 0 ? [] : parts.slice(unknown)))
}

async function resolveNearest(path: string): Promise<string> {
  if (path.includes('\0')) return path
  const names: string[] = []
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const found = await realpath(at).catch(() => undefined)
    if (found !== undefined) return join(found, ...names)
    names.unshift(basename(at))
  }
  return path
}

function asPattern(path: string): string {
  const names = path.split('/').map((name) => (name.includes(UNKNOWN.text) ? '**' : name.replaceAll(UNKNOWN.name, '*')))
  return names.join('/')
}
