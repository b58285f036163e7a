/** The container's files: what they copy is there, no root, nothing written but the state. No machine here can build them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config/settings.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Instruction {
  readonly name: string
  readonly words: readonly string[]
}

function instructionsIn(text: string): readonly Instruction[] {
  return text
    .replaceAll(/^#.*\n/gmu, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...words] = line.trim().split(/\s+/u)
      return { name, words }
    })
}

/** What is copied from the directory of the Dockerfile. */
function sourcesOf(instructions: readonly Instruction[]): readonly string[] {
  return instructions
    .filter(({ name, words }) => name === 'COPY' && !words[0]?.startsWith('--from'))
    .flatMap(({ words }) => words.slice(0, -1))
}

describe('the Dockerfile', () => {
  const all = instructionsIn(read('Dockerfile'))
  const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'))

  test('has instructions that Docker knows', () => {
    const known = ['FROM', 'ARG', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'VOLUME', 'HEALTHCHECK', 'STOPSIGNAL']
    const names = new Set([...known, 'ENTRYPOINT', 'CMD'])
    expect(all.filter(({ name }) => !names.has(name))).toEqual([])
  })

  test('copies only what is there, and what .dockerignore lets through', () => {
    const sources = sourcesOf(all)
    expect(sources.length).toBeGreaterThan(5)
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const ignored = read('.dockerignore').split('\n')
    expect(sources.filter((path) => !ignored.includes(`!${path}`))).toEqual([])
  })

  test('copies all that the package has and the build does not make', () => {
    const { files }: { readonly files: readonly string[] } = JSON.parse(read('package.json'))
    expect(files.filter((path) => !['dist', 'man'].includes(path) && !sourcesOf(all).includes(path))).toEqual([])
  })

  test('ends as a user without rights, with a volume and a check of its health', () => {
    const of = (wanted: string) => last.filter(({ name }) => name === wanted).map(({ words }) => words.join(' '))
    expect(of('USER')).toEqual(['node'])
    expect(of('VOLUME')).toEqual(['/state'])
    expect(of('HEALTHCHECK')).toEqual([expect.stringContaining('"parley", "status", "--json"')])
    // Whatever is changed as root is changed before.
    expect(last.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      last.findLastIndex(({ name }) => name === 'RUN'),
    )
  })
})

test('compose.yaml has a read-only root, a volume for the state, and a port on loopback alone', () => {
  const { services, volumes } = parse(read('compose.yaml')) as {
    readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly volumes: Readonly<Record<string, unknown>>
  }
  expect(services['server']).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    ports: [expect.stringMatching(/^127\.0\.0\.1:/u)],
    volumes: expect.arrayContaining(['state:/state']),
  })
  expect(Object.keys(volumes)).toEqual(['state'])
})

/** The variables of Parley that a text names. */
const variablesIn = (text: string) => [...new Set(text.match(/PARLEY_[A-Z_]+/gu))]

interface Node {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly ports: readonly string[]
  readonly volumes: readonly string[]
}

interface Manifest {
  readonly kind: string
  readonly spec: { readonly template?: { readonly spec: Pod } }
}

interface Pod {
  readonly securityContext: object
  readonly volumes: readonly object[]
  readonly containers: readonly { readonly securityContext: object; readonly env: readonly object[] }[]
}

describe('the files of a cluster', () => {
  const known = new Set(settings.flatMap(({ env }) => (env === undefined ? [] : [env])))

  test('compose.yaml has three nodes, each with a state and an address of its own', () => {
    const text = read('examples/cluster/compose.yaml')
    const { services } = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Node>> }
    const nodes = ['one', 'two', 'three'].flatMap((name) => services[name] ?? [])
    for (const node of nodes)
      expect(node).toMatchObject({ read_only: true, init: true, cap_drop: ['ALL'], command: nodes[0]?.command })
    expect(new Set(nodes.map(({ environment }) => environment['PARLEY_CLUSTER_ADVERTISE'])).size).toBe(3)
    expect(new Set(nodes.map(({ volumes }) => volumes[0])).size).toBe(3)
    expect(nodes.map(({ ports }) => ports[0])).toEqual(nodes.map(() => expect.stringMatching(/^127\.0\.0\.1:/u)))
    expect(variablesIn(text).filter((name) => !known.has(name))).toEqual([])
  })

  test('kubernetes.yaml has a set of nodes without root, and secrets only by their names', () => {
    const text = read('examples/cluster/kubernetes.yaml')
    const manifests = parseAllDocuments(text, { merge: true }).map((one) => one.toJS() as Manifest)
    const kinds = ['Service', 'Service', 'PodDisruptionBudget', 'PersistentVolumeClaim', 'StatefulSet']
    expect(manifests.map(({ kind }) => kind)).toEqual(kinds)
    const pod = manifests.at(-1)?.spec.template?.spec
    expect(pod).toMatchObject({ securityContext: { runAsNonRoot: true }, shareProcessNamespace: true })
    expect(pod?.containers[0]?.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
    expect(pod?.volumes).toContainEqual({ name: 'work', persistentVolumeClaim: { claimName: 'parley-work' } })
    expect(pod?.containers[0]?.env).toContainEqual({
      name: 'PARLEY_CLUSTER_TOKEN',
      valueFrom: { secretKeyRef: { name: 'parley', key: 'token' } },
    })
    expect(variablesIn(text).filter((name) => !known.has(name))).toEqual([])
  })
})
