/** What the lockfile promises to whoever types `npm ci`: it fits their Node, downloads nothing else, and names no host of ours. */
import semver from 'semver'
import { describe, expect, test } from 'vitest'
import { read } from './architecture/source.ts'

interface Locked {
  readonly engines?: { readonly node?: string }
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Manifest {
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}

type Packages = Readonly<Record<string, Locked>>

/** The oldest Node we promise, the last of its line, and the first of the lines after it. */
const nodes = ['20.19.0', '20.20.0', '22.12.0', '24.0.0']

/** Packages that want to run a script when installed, each with what that script does. None needs it; newer npm runs none. */
const installScripts: Readonly<Record<string, string>> = {
  '@parcel/watcher': 'compiles only when asked to by npm_config_build_from_source',
  '@photostructure/sqlite': 'looks for the prebuilt binary that came in its tarball',
  esbuild: 'checks the binary that came as an optional dependency',
  fsevents: 'is for macOS and brings its binary with it',
}

const root = new URL('..', import.meta.url).pathname
const manifest: Manifest = JSON.parse(read(root, 'package.json'))
const { packages }: { packages: Packages } = JSON.parse(read(root, 'package-lock.json'))

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function tooNew(locked: Packages): readonly string[] {
  return Object.entries(locked).flatMap(([path, { engines, dev, optional }]) => {
    // The build tools' WebAssembly fallback for other machines: never installed where they have a binary.
    if (dev && optional) return []
    return nodes
      .filter((node) => engines?.node !== undefined && !semver.satisfies(node, engines.node))
      .map((node) => `${path} wants Node ${engines?.node}, which ${node} is not`)
  })
}

function elsewhere(locked: Packages): readonly string[] {
  return Object.entries(locked)
    .filter(([path, { resolved, link }]) => link === true || (path !== '' && isElsewhere(resolved)))
    .map(([path, { resolved }]) => `${path} comes from ${resolved}, not from the registry`)
}

function isElsewhere(resolved: string | undefined): boolean {
  return resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')
}

function unsealed(locked: Packages): readonly string[] {
  return Object.entries(locked)
    .filter(([path, { integrity }]) => path !== '' && integrity === undefined)
    .map(([path]) => `${path} has no checksum`)
}

/** A binary for another machine that is not locked: `npm ci` refuses to begin, and that machine gets none. */
function forgotten(locked: Packages): readonly string[] {
  return Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => locked[`${path}/node_modules/${name}`] === undefined)
      .filter(([name]) => locked[`node_modules/${name}`] === undefined)
      .map(([name]) => `${path} may need ${name}, which is not locked; take a version that has every binary`),
  )
}

function unknownScripts(locked: Packages): readonly string[] {
  return Object.entries(locked)
    .filter(([path, { hasInstallScript }]) => path !== '' && hasInstallScript && !(nameOf(path) in installScripts))
    .map(([path]) => `${path} runs a script when installed; read it, then list it or leave the package out`)
}

function loose(ranges: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(ranges)
    .filter(([, range]) => semver.valid(range) !== range)
    .map(([name, range]) => `${name} is pinned to ${range}, which is not one version`)
}

describe('the lockfile', () => {
  test('fits every Node that we promise', () => {
    expect(nodes.filter((node) => !semver.satisfies(node, manifest.engines.node))).toEqual([])
    expect(tooNew(packages)).toEqual([])
  })
  test('takes everything from the registry', () => expect(elsewhere(packages)).toEqual([]))
  test('seals everything with a checksum', () => expect(unsealed(packages)).toEqual([]))
  test('has the binaries of every machine', () => expect(forgotten(packages)).toEqual([]))
  test('runs only scripts that download nothing', () => expect(unknownScripts(packages)).toEqual([]))
  test('has an answer for each of these scripts, so that npm asks nobody', () => {
    expect(manifest.allowScripts).toEqual(Object.fromEntries(Object.keys(installScripts).map((name) => [name, false])))
  })
  test('knows of no dependency that package.json leaves open', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest
    expect(loose({ ...dependencies, ...devDependencies, ...optionalDependencies })).toEqual([])
  })
})

describe('a rule catches', () => {
  const path = 'node_modules/a/node_modules/@b/c'

  test('a package that left Node 20', () => {
    expect(tooNew({ [path]: { engines: { node: '>=22' } } })).toEqual([
      `${path} wants Node >=22, which 20.19.0 is not`,
      `${path} wants Node >=22, which 20.20.0 is not`,
    ])
  })

  test.each(['https://registry.example.com/c.tgz', 'git+ssh://git@github.com/b/c.git', 'file:../c'])(
    'a package from %s',
    (resolved) => {
      expect(elsewhere({ [path]: { resolved } })).toEqual([`${path} comes from ${resolved}, not from the registry`])
    },
  )

  test('a package without a checksum', () => expect(unsealed({ [path]: {} })).toEqual([`${path} has no checksum`]))

  test('a binary that is missing', () => {
    expect(forgotten({ [path]: { optionalDependencies: { 'c-linux': '1.0.0' } } })).toEqual([
      `${path} may need c-linux, which is not locked; take a version that has every binary`,
    ])
  })

  test('an install script that nobody read', () => {
    expect(unknownScripts({ [path]: { hasInstallScript: true } })).toEqual([
      `${path} runs a script when installed; read it, then list it or leave the package out`,
    ])
  })

  test.each(['^1.2.3', '~1.2.3', '1.2', '*', 'latest', 'github:b/c'])('the range %s', (range) => {
    expect(loose({ c: range })).toEqual([`c is pinned to ${range}, which is not one version`])
  })
})
