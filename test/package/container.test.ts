/** The container's files: what they copy is there, no root, nothing written but the state. No machine here can build them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

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
