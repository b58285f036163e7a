/** The types that the package publishes: a program of somebody else's compiles against the packed package alone. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emitDeclarations } from '../../scripts/declarations.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let work = ''

beforeAll(() => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
  // Below node_modules, so that the packages that Parley depends on are found, as they are where it is installed.
  work = mkdtempSync(join(root, 'node_modules/.cache/parley-consumer-'))
  emitDeclarations(join(root, 'dist/types'))
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', work], {
      cwd: root,
      encoding: 'utf8',
    }),
  ) as readonly { readonly filename: string }[]
  const installed = join(work, 'node_modules/@parley-sessions/parley')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(work, packed?.filename ?? ''), '-C', installed, '--strip-components=1'])
})

afterAll(() => rmSync(work, { recursive: true, force: true }))

function compile(source: string, options: object): string {
  writeFileSync(join(work, 'consumer.ts'), source)
  writeFileSync(
    join(work, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, ...options },
      files: ['consumer.ts'],
    }),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, '-p', work], { encoding: 'utf8' }).stdout
}

const program = `import { type ClientDelegate, type ClientTransport, connect, isClientError } from '@parley-sessions/parley/client'

const delegate: ClientDelegate = {
  updated: ({ sessionId, update }) => console.log(sessionId, update.sessionUpdate),
  ask: async ({ options }) => options.find(({ kind }) => kind === 'allow_once')?.optionId ?? null,
}

export async function ask(dial: () => Promise<ClientTransport>, text: string): Promise<string> {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const client = await connect({ dial, pause, newId: () => crypto.randomUUID() }, delegate, {
    info: { name: 'mine', title: 'Mine', version: '1' },
  })
  try {
    return (await client.prompt(await client.newSession('/'), text)).stopReason
  } catch (error) {
    return isClientError(error, 'PEER_REFUSED') ? error.details.code : 'lost'
  } finally {
    client.close()
  }
}
`

test('a program for browsers compiles against the client, with no types of Node', () => {
  expect(compile(program, { lib: ['ES2023', 'DOM'], types: [], skipLibCheck: false })).toBe('')
})

test('what is no member of the client does not compile', () => {
  const wrong = program.replace('client.newSession', 'client.noSuchMethod')
  expect(compile(wrong, { lib: ['ES2023', 'DOM'], types: [] })).toContain("Property 'noSuchMethod' does not exist")
})

test('a program of Node compiles against the embedded server', () => {
  const embedding = `import { type EmbeddedServer, isParleyError, loadConfig, openEmbedded } from '@parley-sessions/parley'

export async function open(): Promise<EmbeddedServer | string> {
  try {
    return await openEmbedded(await loadConfig({}))
  } catch (error) {
    return isParleyError(error, 'STATE_IN_USE') ? error.details.path : 'failed'
  }
}
`
  expect(compile(embedding, { lib: ['ES2023'], types: ['node'], skipLibCheck: true })).toBe('')
})
