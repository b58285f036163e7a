/** Which files and directories of the server's machine are listed for a client, on real directories. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { cleanUp, openStreet } from '../../../test/sim/street.ts'
import type { Role } from '../../credentials/roles.ts'

cleanUp()

let top: string

beforeEach(() => void (top = newDirectory()))

function write(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(join(top, name, '..'), { recursive: true })
    writeFileSync(join(top, name), '')
  }
}

const own = (name: string) => ({ path: join(top, 'work', name), name })
const remote = (role: Role, roots: readonly string[] = []) => {
  return { principal: { transport: 'websocket', isLocalUser: false, role } as const, roots }
}

/** A session of the owner in `work`, with `lib` beside it. */
async function opened() {
  const street = openStreet()
  const owner = await street.client()
  for (const name of ['work', 'lib']) mkdirSync(join(top, name), { recursive: true })
  const params = { cwd: join(top, 'work'), mcpServers: [], additionalDirectories: [join(top, 'lib')] }
  const { result } = await owner.request('session/new', params)
  return { street, owner, sessionId: String(result?.['sessionId']) }
}

describe('_parley/files', () => {
  test('finds by parts of names, the best first, in all directories of the session', async () => {
    write('work/src/relay.ts', 'work/docs/relays/why.md', 'work/r/e/l/ay.ts', 'work/other.ts', 'lib/relay.py')
    const { owner, sessionId } = await opened()
    const { result } = await owner.request('_parley/files', { sessionId, query: 'Relay' })
    const other = { path: join(top, 'lib/relay.py'), name: join(top, 'lib/relay.py') }
    const files = [own('src/relay.ts'), other, own('docs/relays/why.md'), own('r/e/l/ay.ts')]
    expect(result).toEqual({ files, complete: true, age: 0 })
    const one = await owner.request('_parley/files', { sessionId, limit: 1 })
    expect(one.result?.['files']).toHaveLength(1)
  })

  test('finds a file once, named from the session on, where directories lie in each other', async () => {
    write('work/src/relay.ts', 'relay.md')
    const street = openStreet()
    const owner = await street.client()
    const params = { cwd: join(top, 'work'), mcpServers: [], additionalDirectories: [top, join(top, 'work/src')] }
    const { result } = await owner.request('session/new', params)
    const found = await owner.request('_parley/files', { sessionId: String(result?.['sessionId']), query: 'relay' })
    expect(found.result?.['files']).toEqual([
      own('src/relay.ts'),
      { path: join(top, 'relay.md'), name: join(top, 'relay.md') },
    ])
  })

  test('leaves out ignored files and files outside, also through links', async () => {
    write('work/kept.ts', 'work/dist/kept.js', 'work/.git/kept', 'secret/kept.key')
    writeFileSync(join(top, 'work/.gitignore'), 'dist\n')
    symlinkSync(join(top, 'secret'), join(top, 'work/kept-link'))
    symlinkSync(join(top, 'secret/kept.key'), join(top, 'work/kept.key'))
    const { owner, sessionId } = await opened()
    const { result } = await owner.request('_parley/files', { sessionId, query: 'kept' })
    expect(result?.['files']).toEqual([own('kept.ts')])
  })

  test('finds a file that was just created', async () => {
    write('work/old.ts')
    const { owner, sessionId } = await opened()
    const found = async () => (await owner.request('_parley/files', { sessionId, query: '.ts' })).result?.['files']
    expect(await found()).toHaveLength(1)
    write('work/new.ts')
    expect(await found()).toHaveLength(2)
  })

  test('is refused for an unknown session, and for a client that only reads', async () => {
    const { street, owner, sessionId } = await opened()
    expect((await owner.request('_parley/files', { sessionId: 'no' })).error?.data?.['code']).toBe('SESSION_NOT_FOUND')
    const reader = await street.client({}, remote('read'))
    expect((await reader.request('_parley/files', { sessionId })).error?.data?.['code']).toBe('ROLE_TOO_LOW')
  })
})

describe('_parley/directories', () => {
  const asked = async (client: Awaited<ReturnType<typeof opened>>['owner'], params: object = {}) => {
    const { result, error } = await client.request('_parley/directories', { ...params })
    const found = (result?.['directories'] ?? []) as readonly { readonly path: string }[]
    return error?.data?.['code'] ?? found.map(({ path }) => path.slice(top.length + 1))
  }

  test('lists the directories of sessions, and for an administrator any', async () => {
    mkdirSync(join(top, 'other/deep'), { recursive: true })
    const { street, owner } = await opened()
    expect(await asked(owner, { query: 'wor' })).toEqual(['work'])
    expect(await asked(owner, { path: top })).toEqual(['lib', 'other', 'work'])
    const phone = await street.client({}, remote('prompt'))
    expect(await asked(phone)).toEqual(['work'])
    expect(await asked(phone, { path: top })).toEqual(['work'])
    expect(await asked(phone, { path: join(top, 'other') })).toBe('DIRECTORY_FOREIGN')
    expect(await asked(owner, { path: join(top, 'none') })).toBe('DIRECTORY_MISSING')
    expect(await asked(owner, { path: 'work' })).toBe('PATH_NOT_ABSOLUTE')
  })

  test('offers an administrator the home directory besides, for the first session of all', async () => {
    const { street, owner } = await opened()
    const paths = async (client: typeof owner) =>
      (await client.request('_parley/directories', {})).result?.['directories'] as readonly object[]
    expect((await paths(owner)).at(-1)).toEqual({ path: homedir(), used: false })
    expect(await paths(await street.client({}, remote('prompt')))).toHaveLength(1)
  })

  test('lists existing directories below the setting remote_roots; sessions can be created there', async () => {
    for (const name of ['open/a', 'open/.hidden', 'closed/b']) mkdirSync(join(top, name), { recursive: true })
    symlinkSync(join(top, 'closed'), join(top, 'open/link'))
    const { street } = await opened()
    const phone = await street.client({}, remote('prompt', [join(top, 'open')]))
    expect(await asked(phone)).toEqual(['work', 'open'])
    expect(await asked(phone, { path: join(top, 'open') })).toEqual(['open/a'])
    expect(await asked(phone, { path: join(top, 'open'), query: '.' })).toEqual(['open/.hidden'])
    for (const path of ['open/link', 'open/link/b', 'open/../closed', 'closed'])
      expect(await asked(phone, { path: `${top}/${path}` })).toBe('DIRECTORY_FOREIGN')
    const begun = async (path: string) =>
      (await phone.request('session/new', { cwd: `${top}/${path}`, mcpServers: [] })).error?.data?.['code'] ?? 'begun'
    expect(await begun('open/a')).toBe('begun')
    expect(await begun('open/link/b')).toBe('DIRECTORY_FOREIGN')
    expect(await begun('closed/b')).toBe('DIRECTORY_FOREIGN')
  })
})
