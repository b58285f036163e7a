/** Imports go down only: folder by folder, package by package, and never in a circle. */
import { compose, composers, lazy, outside, packages, pagePackages, seams, walls } from './law.ts'
import type { Import } from './imports.ts'
import type { Offence } from './source.ts'

/** The room that a file belongs to, or undefined when the house has none for it. */
function roomOf(path: string): string | undefined {
  const inside = path.replace(/^src\//, '')
  return Object.keys(walls)
    .filter((room) => inside === room || inside === `${room}.ts` || inside.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)
    .at(0)
}

export function roomless(paths: readonly string[]): readonly Offence[] {
  return paths
    .filter((path) => roomOf(path) === undefined)
    .map((path) => `${path}:1 stands in no room of the house; give its folder a row in test/architecture/law.ts`)
}

export function crossedWalls(imports: readonly Import[]): readonly Offence[] {
  return imports.flatMap((one) => crossing(one) ?? [])
}

function crossing(one: Import): Offence | undefined {
  const room = roomOf(one.from.path)
  const wall = room === undefined ? undefined : walls[room]
  if (room === undefined || wall === undefined) return undefined
  const { target } = one
  switch (target.kind) {
    case 'unknown':
      return `${one.at} imports what only running it can tell; name the module in a string`
    case 'node':
      if (wall.node === 'any' || wall.node.includes(target.module)) return undefined
      return `${one.at} imports ${one.specifier}, but ${room} may import ${list(wall.node, 'none')} of Node's own modules`
    case 'package':
      return crossingOfPackage(one, room, target.name)
    case 'file':
      return crossingOfFile(one, room, target.path)
  }
}

function crossingOfPackage(one: Import, room: string, name: string): Offence | undefined {
  const homes = packages[name] ?? pagePackages[name]
  if (homes?.includes(room)) return undefined
  if (homes) return `${one.at} imports ${one.specifier}, but only ${list(homes)} may import ${name}`
  return `${one.at} imports ${one.specifier}, which has no home; give it a row in test/architecture/law.ts`
}

function crossingOfFile(one: Import, room: string, path: string): Offence | undefined {
  if (outside[path]?.includes(room)) return undefined
  if (!/\.tsx?$/u.test(path)) return `${one.at} imports ${one.specifier}, but a relative import ends with .ts`
  if (path.endsWith('.test.ts')) return `${one.at} imports ${one.specifier}, but nothing may import a test`
  const other = path.startsWith('src/') ? roomOf(path) : undefined
  if (other === undefined) return `${one.at} imports ${one.specifier}, which is outside the rooms of src/`
  const may = walls[room]?.may ?? []
  if (other !== room && !allows(may, other)) {
    return `${one.at} imports ${one.specifier}, but ${room} may only import ${list(may, 'nothing of ours')}`
  }
  const seam = seams[room]?.[other]
  if (seam !== undefined && !seam.some((part) => path.startsWith(part))) {
    return `${one.at} imports ${one.specifier}, but ${room} may import only ${list(seam)} of ${other}`
  }
  if (room === 'server' && other.startsWith('adapters/') && !composers.includes(one.from.path)) {
    return `${one.at} imports ${one.specifier}, but in server only ${compose} may name an adapter`
  }
  return undefined
}

export function allows(may: readonly string[], room: string): boolean {
  return may.includes(room) || (may.includes('adapters/*') && room.startsWith('adapters/'))
}

/** What `cli/main.ts` would load before it knows which command was asked for. */
export function hastyImports(imports: readonly Import[]): readonly Offence[] {
  const eager = imports.filter((one) => one.eager && one.target.kind === 'file')
  const reached = new Set<string>([lazy.from])
  // A set that grows while it is walked: what is added is visited too.
  for (const path of reached) {
    for (const one of eager) if (one.from.path === path && one.target.kind === 'file') reached.add(one.target.path)
  }
  const rooms: readonly (string | undefined)[] = lazy.rooms
  return eager
    .filter((one) => reached.has(one.from.path) && roomOf(one.from.path) === 'cli')
    .filter((one) => one.target.kind === 'file' && rooms.includes(roomOf(one.target.path)))
    .map((one) => `${one.at} imports ${one.specifier}, and ${lazy.from} would wait for it; reach it by import()`)
}

/** Every circle once, types included, as the path around it. */
export function circles(imports: readonly Import[]): readonly Offence[] {
  const next = new Map<string, Import[]>()
  for (const one of imports) {
    if (one.target.kind === 'file') next.set(one.from.path, [...(next.get(one.from.path) ?? []), one])
  }
  const done = new Set<string>()
  const offences: Offence[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return
    for (const one of next.get(path) ?? []) {
      if (one.target.kind !== 'file') continue
      const start = [...trail, path].indexOf(one.target.path)
      if (start === -1) visit(one.target.path, [...trail, path])
      else offences.push(`${one.at} closes a circle: ${[...trail, path].slice(start).join(' → ')} → ${one.target.path}`)
    }
    done.add(path)
  }
  for (const path of next.keys()) visit(path, [])
  return offences
}

function list(names: readonly string[], none = 'nothing'): string {
  return names.length === 0 ? none : names.join(', ')
}
