/** docs/projects.md, row by row: each is tried, and a setting or a file without a row fails. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commandsFor } from '../src/adapters/agent/model/options/commands.ts'
import { instructionsOf } from '../src/adapters/agent/model/context/instructions.ts'
import { readAgentFiles } from '../src/config/agents/agent-files.ts'
import { loadConfig } from '../src/config/load.ts'
import { readMcpFiles } from '../src/config/mcp/server-files.ts'
import { PermissionRules } from '../src/server/compose/permission-rules.ts'
import { EFFECTS } from '../src/config/rules/permission-tables.ts'
import { settings } from '../src/config/settings.ts'
import { load } from '../src/docs-search/index/collect/load.ts'
import { withoutPowers } from '../src/session/domain/imported-entries.ts'
import { namesIn, ignoreRulesIn, defaultIgnoreRules } from '../src/workspace/walk.ts'
import { withResolvedPath } from '../src/workspace/resolve-in-roots.ts'
import { read } from './architecture/source.ts'

/** As the tools and the document search read them. */
function ignoreRulesOf(directory: string): Promise<readonly string[]> {
  const roots = [{ given: directory, real: directory }]
  return withResolvedPath(directory, { roots }, async ({ held }) =>
    ignoreRulesIn(held, (await namesIn(held)).entries, roots),
  )
}

const top = mkdtempSync(join(tmpdir(), 'parley-projects-'))
afterAll(() => rmSync(top, { recursive: true, force: true }))
let places = 0

const [, ofSettings = '', ofFiles = ''] = read(new URL('..', import.meta.url).pathname, 'docs/projects.md').split(
  /^## /mu,
)
const rowsOf = (section: string) =>
  [...section.matchAll(/^\| (?!key|file)`?([^`|]+?)`? \| ([^|]+) \|/gmu)].map(([, name = '', may = '']) => ({
    name,
    may,
  }))
const pathAccess = () => undefined

/** A project, and a user who has a state directory, a directory of settings, and a secret beside the project. */
function place() {
  const root = join(top, String((places += 1)))
  const [cwd, home, secret] = [join(root, 'project'), join(root, 'home'), join(root, 'secret.md')]
  for (const directory of [cwd, home, join(root, 'config', 'parley', 'prompts')])
    mkdirSync(directory, { recursive: true })
  writeFileSync(secret, 'the secret')
  const environment = { PARLEY_HOME: home, XDG_CONFIG_HOME: join(root, 'config') }
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  return { cwd, home, secret, environment, put, loaded: () => loadConfig({}, environment, cwd) }
}

type Place = ReturnType<typeof place>

/** What must not be read as `name`: what is outside, what never ends, what is never written. */
const ODD: readonly (readonly [string, (path: string, place: Place) => unknown])[] = [
  ['a link out', (path, { secret }) => symlinkSync(secret, path)],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a directory', (path) => mkdirSync(path)],
]

describe('the settings of a project', () => {
  const tables = [...EFFECTS.map((effect) => `permissions.${effect}`), 'agents', 'mcp', 'providers']
  const rows = rowsOf(ofSettings)

  test('have a row each', () => {
    const known = [...settings.map(({ key }): string => key), ...tables]
    expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted())
  })

  const values: Readonly<Record<string, string>> = { agent: '"guide"', model: '"here:big"', experimental: 'true' }
  const plain = rows.filter(({ name }) => !tables.includes(name))

  test.each(plain)('$name: a project $may', async ({ name, may }) => {
    const { put, loaded, environment } = place()
    const before = await loaded()
    put('.parley.toml', `${name} = ${values[name] ?? '7'}\n`)
    const after = await loaded()
    const isCounting = JSON.stringify({ ...after, warnings: [] }) !== JSON.stringify(before)
    expect([isCounting, after.warnings.length]).toEqual(may === 'chooses' ? [true, 0] : [false, 1])
    expect(after.environment).toBe(environment)
  })

  test.each(['permissions.deny', 'permissions.ask', 'permissions.allow'])('%s', async (key) => {
    const { put, cwd, home, environment } = place()
    put('.parley.toml', `[permissions]\n${key.replace(/^.*\./u, '')} = [{ tool = "x" }]\n`)
    const { rules } = await new PermissionRules({ home, environment }).find(cwd)
    const { may } = rows.find(({ name }) => name === key) ?? {}
    expect(rules.map(({ standing }) => standing)).toEqual([may === 'waits' ? 'waiting' : 'active'])
  })

  test('mcp: each server waits', () => {
    const { put, cwd, home, environment } = place()
    put('.parley.toml', '[mcp.a]\ncommand = "sh"\n[mcp.b]\nurl = "http://127.0.0.1:1"\n')
    const { servers } = readMcpFiles({ home, environment }, cwd)
    expect(servers.map(({ standing }) => standing)).toEqual(['waiting', 'waiting'])
  })

  test('agents: each agent waits, and one that the user has too is overruled', () => {
    const { put, cwd, home, environment } = place()
    const mine = join(environment.XDG_CONFIG_HOME, 'parley', 'parley.toml')
    writeFileSync(mine, '[agents.claude]\ncommand = "mine"\n')
    put('.parley.toml', '[agents.a]\ncommand = "./a"\n[agents.claude]\nregistry = "claude"\n')
    const { agents } = readAgentFiles({ home, environment }, cwd)
    expect(agents.map(({ standing }) => standing)).toEqual(['active', 'waiting', 'overruled'])
  })

  test('providers: none of a project is there', async () => {
    const { put, loaded } = place()
    put('.parley.toml', '[providers.openai]\nurl = "http://127.0.0.1:1"\n')
    expect((await loaded()).warnings).toEqual([expect.stringContaining('only your own file says where models are')])
  })
})

/** By the name of its row. */
const files: Readonly<Record<string, () => Promise<void>>> = {
  '.parley.toml': async () => {
    for (const [, make] of ODD.slice(1)) {
      const here = place()
      make(join(here.cwd, '.parley.toml'), here)
      expect((await here.loaded()).warnings).toEqual([expect.stringContaining('it is not a file')])
    }
  },
  'parley.toml': async () => {
    const { put, loaded } = place()
    put('parley.toml', 'agent = "guide"\n')
    expect(await loaded()).toMatchObject({
      agent: { kind: 'auto' },
      warnings: [expect.stringContaining('is not read')],
    })
  },
  'AGENTS.md': async () => {
    for (const name of ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'])
      for (const [, make] of ODD) {
        const here = place()
        make(join(here.cwd, name), here)
        expect(await instructionsOf({ roots: [here.cwd], pathAccess })).toEqual([])
      }
    const { put, cwd } = place()
    put('AGENTS.md', 'x'.repeat(100_000))
    expect((await instructionsOf({ roots: [cwd], pathAccess }))[0]?.text.length).toBeLessThan(33_000)
  },
  '.parley/prompts/NAME.md': async () => {
    const here = place()
    const promptDirectory = join(here.environment.XDG_CONFIG_HOME, 'parley', 'prompts')
    writeFileSync(join(promptDirectory, 'review.md'), 'mine')
    for (const name of ['review', 'compact', ...Array.from({ length: 300 }, (_, at) => `other-${at}`)])
      here.put(`.parley/prompts/${name}.md`, 'theirs')
    for (const [at, [, make]] of ODD.entries()) make(join(here.cwd, '.parley', 'prompts', `a-odd-${at}.md`), here)
    const offered = await commandsFor({ prompts: [] }, [here.cwd], { promptDirectory })
    expect(offered.find(({ name }) => name === 'review')?.description).toBe(join(promptDirectory, 'review.md'))
    expect(offered.find(({ name }) => name === 'compact')?.description).toBe(
      'Replace the older part of the context with a summary',
    )
    expect(offered.filter(({ name }) => name.startsWith('a-odd'))).toEqual([])
    expect(offered.length).toBeLessThan(210)
  },
  '.gitignore': async () => {
    for (const name of ['.gitignore', '.ignore']) {
      for (const [, make] of ODD) {
        const here = place()
        make(join(here.cwd, name), here)
        expect(await ignoreRulesOf(here.cwd)).toEqual([])
      }
      const { put, cwd } = place()
      put(name, `${'**/a/'.repeat(12)}b\nsecret\n`)
      const rules = defaultIgnoreRules().below('', await ignoreRulesOf(cwd))
      expect([rules.ignores('secret', false), rules.ignores(`${'a/'.repeat(150)}c`, false)]).toEqual([true, false])
    }
  },
  documents: async () => {
    const { cwd, secret } = place()
    const path = join(cwd, 'linked.md')
    symlinkSync(secret, path)
    const unpack = () => Promise.reject(new Error('it is no packed format'))
    await expect(load({ root: cwd, path, bytes: 10 }, unpack)).rejects.toMatchObject({ code: 'FILE_MISSING' })
  },
  'an exported session': async () => {
    const created = { seq: 1, at: 0, kind: 'session_created', format: 1, cwd: '/', additionalDirectories: [] } as const
    expect(withoutPowers({ ...created, agent: 'script:/x' })).toMatchObject({ agent: 'asked-script:/x' })
  },
  'a script': async () => {
    const { put, loaded } = place()
    put('.parley.toml', 'agent = "script:evil.jsonl"\n')
    expect((await loaded()).agent).toEqual({ kind: 'auto' })
  },
}

describe('the files of a project', () => {
  test('have a row each', () => expect(rowsOf(ofFiles).map(({ name }) => name)).toEqual(Object.keys(files)))

  test.each(Object.keys(files))('%s', async (name) => {
    await files[name]?.()
  })
})
