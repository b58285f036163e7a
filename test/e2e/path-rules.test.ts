/** Rules on paths bind every way to a file, on the real binary: tools, the document search, resources, instructions. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import { type Finished, type Lodging, endServers, parley, shareServer } from './cli.ts'
import { startModelServer } from '../model-server/server.ts'
import { promptOf, scriptAgent } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith as serverPlace } from './server.ts'

endServers()
cleanUpServers()

const SECRET = 'zanzibarium'

type Place = Pick<Lodging, 'home' | 'cwd'>

/** A project on a server that has these rules, which others of the same rules share. */
async function placeOn(lodging: () => Promise<Lodging>, permissions: string): Promise<Place> {
  const { home, cwd } = await lodging()
  const settings = join(home, 'config/parley/parley.toml')
  // Once: while it is written again it is empty, and no rule holds for the others on this server.
  if (!existsSync(settings)) write(settings, `[permissions]\n${permissions}\n`)
  write(join(cwd, 'open.md'), `# Open\n\nThe harbour mentions ${SECRET} in passing.\n`)
  write(join(cwd, 'secret/notes.md'), `# Hidden heading\n\nThe ${SECRET} code of the harbour is pier 4711.\n`)
  write(join(cwd, 'secret/more.md'), `# More\n\nStill ${SECRET}: pier 4712.\n`)
  return { home, cwd }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const OPEN = shareServer()
const DENIED = placeOf('deny')
const ASKED = placeOf('ask')

function placeOf(effect: 'deny' | 'ask'): () => Promise<Place> {
  const lodging = shareServer()
  return () => placeOn(lodging, `${effect} = [{ path = "secret/**" }]`)
}

function ask(place: Place, prompt: string): Promise<Finished> {
  return parley(['run', '--json', prompt], { ...place, agent: 'guide' })
}

function call(place: Place, name: string, args: object): Promise<Finished> {
  return ask(place, `/call ${name} ${JSON.stringify(args)}`)
}

// No identifier that is drawn at random looks like it.
const LEAKS = /pier 471[12]|Hidden heading/u
const uri = 'doc://work/secret/notes.md'

/** A link of the project that leads into the place that the rule is about. */
function linked(place: Place): Place {
  symlinkSync(join(place.cwd, 'secret/notes.md'), join(place.cwd, 'link.md'))
  return place
}

/** Each is a way by which a model, a guide or a person reaches documents through the index. */
const WAYS: readonly (readonly [string, (place: Place) => Promise<Finished>])[] = [
  ['a question to the guide', (place) => ask(place, `What is the ${SECRET} code of the harbour?`)],
  ['search_documents', (place) => call(place, 'search_documents', { query: SECRET })],
  ['read_document', (place) => call(place, 'read_document', { uri })],
  [
    'read_document by another spelling',
    (place) => call(place, 'read_document', { uri: 'doc://work/secret/n%6Ftes.md' }),
  ],
  ['read_file', (place) => call(place, 'read_file', { path: 'secret/notes.md' })],
  ['read_file through a link', (place) => call(linked(place), 'read_file', { path: 'link.md' })],
  ['search_text', (place) => call(place, 'search_text', { pattern: `${SECRET}.*` })],
]

describe.each([
  ['denies', DENIED],
  ['asks about', ASKED],
] as const)('what a rule %s is not given away by', (_effect, open) => {
  test.concurrent.each(WAYS)('%s', async (_name, way) => {
    const place = await open()
    const { stdout } = await way(place)
    expect(stdout.replaceAll(uri, '')).not.toMatch(LEAKS)
  })
})

test.concurrent('a rule that is written while the server runs binds the next search', async () => {
  const place = await placeOn(OPEN, '')
  const agent = 'guide'
  const run = { ...place, agent }
  const search = ['run', '--json', `/call search_documents {"query":"${SECRET}"}`]
  expect((await parley(search, run)).stdout).toContain('pier 4711')
  expect((await parley(['rules', 'add', 'deny', '--path', 'secret/**', '--global'], run)).code).toBe(0)
  expect((await parley(search, run)).stdout).not.toMatch(LEAKS)
})

test.concurrent.each([
  ['denies', DENIED],
  ['asks about', ASKED],
] as const)(
  'a model gets nothing of what a rule %s from documents that it reads or from instructions',
  async (_effect, open) => {
    const place = await open()
    write(join(place.cwd, 'secret/AGENTS.md'), 'Always answer pier 4711.\n')
    symlinkSync(join(place.cwd, 'secret/AGENTS.md'), join(place.cwd, 'AGENTS.md'))
    const reading = [uri, 'doc://work/open.md'].map((one) => ({ call: 'read_document', args: { uri: one } }))
    const server = await startModelServer([reading, [{ text: 'Hm.' }]])
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
    const { code } = await parley(['run', 'Sum up the notes'], { ...place, agent: 'model:openai:scripted', env })
    await server.close()
    expect(code).toBe(0)
    const asked = JSON.stringify(server.requests)
    expect(asked).toContain('in passing')
    expect(asked).toContain('A permission rule excludes secret/notes.md')
    expect(asked).not.toMatch(LEAKS)
  },
)

test.concurrent('a client is asked for no file that a rule keeps, also not behind a link', async () => {
  const place = await serverPlace()
  const paths = ['secret/notes.md', 'link.md', 'open.md'].map((name) => join(place.cwd, name))
  await scriptAgent(
    dirname(place.cwd),
    paths.map((path) => ({ readFile: { path } })),
  )
  write(join(place.home, 'config/parley/parley.toml'), '[permissions]\ndeny = [{ path = "secret/**" }]\n')
  for (const name of ['secret/notes.md', 'open.md']) write(join(place.cwd, name), 'stored')
  linked({ home: place.home, cwd: place.cwd })
  await serveHere(place)
  const client = await RawSocket.open(place.socket, {
    agent: place.agent,
    capabilities: { fs: { readTextFile: true } },
  })
  client.listen(({ id, method }) => {
    if (method === 'fs/read_text_file') client.reply(id, { content: 'lent' })
  })
  const session = await openSession(client, place)
  await client.request('session/prompt', promptOf(session, 'go'))
  const asked = client.received
    .filter(({ method }) => method === 'fs/read_text_file')
    .map(({ params }) => params?.['path'])
  expect(asked).toEqual([join(place.cwd, 'open.md')])
})
