/** The documents say what the source says, their links lead somewhere, and what they tell people to type exists. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentsDocument } from '../scripts/agents-document.ts'
import { errorsDocument } from '../scripts/errors-document.ts'
import { journalDocument } from '../scripts/journal-document.ts'
import type { CommandRow } from '../src/cli/runtime/command.ts'
import { commands } from '../src/cli/command-table.ts'
import { quirkFields } from '../src/config/agents/agent-entries.ts'
import { catalogue } from '../src/errors/catalogue.ts'
import { isTest, listFiles, parse, read, readSources } from './architecture/source.ts'
import { blocksOf, deadLinks, deadPaths, deadTests, longLines, unknownCommands, type Page } from './docs/page.ts'

const root = new URL('..', import.meta.url).pathname
const there = (path: string) => existsSync(join(root, path))
const pages: readonly Page[] = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'bench', 'examples'].flatMap((folder) => listFiles(root, folder, '.md')),
].map((path) => ({ path, text: read(root, path) }))
const blocks = pages.flatMap(blocksOf)
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(read(root, 'package.json'))
const words = { scripts: Object.keys(scripts), isCommand: (typed: readonly string[]) => isCommand(typed, commands) }
const code = readSources(root, ['src'])
  .filter(({ path }) => !isTest(path))
  .filter(({ path }) => path !== 'src/errors/catalogue.ts' && path !== 'src/ports/fault.ts')
  .map(({ text }) => text)
const isSaid = (name: string) => code.some((text) => text.includes(`'${name}'`))

describe('docs/errors.md', () => {
  test('is what `npm run docs` makes of the catalogue', () =>
    expect(read(root, 'docs/errors.md')).toBe(errorsDocument()))
  test('has no row that nothing throws', () => {
    expect(Object.keys(catalogue).filter((name) => !isSaid(name))).toEqual([])
  })
})

describe('docs/agents.md', () => {
  test('has the table that `npm run docs` makes of the rows', () => {
    const page = read(root, 'docs/agents.md')
    expect(page).toBe(agentsDocument(page))
  })

  test('explains every quirk that an entry may overrule, and no other', () => {
    const [, part = ''] = read(root, 'docs/agents.md').split('### Quirks')
    const rows = part.split('\n').filter((line) => line.startsWith('| `'))
    const named = rows.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/gu)].map(([, name]) => name))
    expect(named.toSorted()).toEqual(Object.keys(quirkFields).toSorted())
  })
})

describe('docs/internals/journal.md', () => {
  test('has the schema that `npm run docs` makes of the entries', () => {
    const page = read(root, 'docs/internals/journal.md')
    expect(page).toBe(journalDocument(page))
  })
})

describe('docs/internals/faults.md', () => {
  const listed = [...read(root, 'docs/internals/faults.md').matchAll(/^\| `([^`]+)` \|/gm)].map(
    ([, name]) => name ?? '',
  )

  test('lists the points of ports/fault.ts in their order', () => expect(listed).toEqual(faultPoints()))
  test('has no point that nothing reaches', () => expect(listed.filter((name) => !isSaid(name))).toEqual([]))
})

describe('every page', () => {
  test('has links that lead somewhere', () => {
    expect(pages.flatMap((page) => deadLinks(page, (path) => (there(path) ? textOf(path) : undefined)))).toEqual([])
  })
  test('has lines of at most 100 columns', () =>
    expect(pages.filter(({ path }) => path !== 'docs/internals/journal.md').flatMap(longLines)).toEqual([]))
  test('names files that exist', () => expect(pages.flatMap((page) => deadPaths(page, there))).toEqual([]))
  test('names tests that exist', () => {
    expect(pages.flatMap((page) => deadTests(page, (path) => (there(path) ? read(root, path) : undefined)))).toEqual([])
  })
  test('tells people to type what exists', () => expect(unknownCommands(blocks, words)).toEqual([]))
  test('shows JSON that parses', () => {
    const json = blocks.filter(({ language }) => language === 'json')
    expect(json.filter(({ text }) => !isJson(text)).map(({ at }) => at)).toEqual([])
  })
})

describe('a rule catches', () => {
  const page = (text: string) => ({ path: 'docs/a.md', text })

  test.each([
    ['a missing file', 'See [it](gone.md).', 'docs/a.md:1 links to gone.md, which is not there'],
    ['a missing heading', '\n[it](b.md#nowhere)', 'docs/a.md:2 links to b.md#nowhere, which has no such heading'],
    ['a missing heading of its own', '# Yes\n[it](#no)', 'docs/a.md:2 links to #no, which has no such heading'],
  ])('%s', (_name, text, says) => {
    const textAt = (path: string) => (path === 'docs/b.md' ? '# What it *is*' : undefined)
    expect(deadLinks(page(`${text}\n[ok](b.md#what-it-is) [ok](https://example.com/x)`), textAt)).toEqual([says])
  })

  test('a path that moved', () => {
    expect(deadPaths(page('in `src/old.ts`, not `src/new.ts`'), (path) => path === 'src/new.ts')).toEqual([
      'docs/a.md:1 names src/old.ts, which is not there',
    ])
  })

  test('a test that was renamed', () => {
    const text =
      '- `a.test.ts`: “is kept”\n- `a.test.ts`: “is lost”\n- `a.test.ts`: “all › is kept”\n- `a.test.ts`: “none › is kept”'
    expect(deadTests(page(text), () => "describe('all', () => test('is kept'")).toEqual([
      'docs/a.md:2 names a test that a.test.ts does not have: is lost',
      'docs/a.md:4 names a test that a.test.ts does not have: none › is kept',
    ])
  })

  test('a command and a script that do not exist', () => {
    const text = '```sh\n$ parley ls --json\nPARLEY_AGENT=guide parley dance\nnpm run fly && npm start\nparley\n```\n'
    const known = { scripts: ['start'], isCommand: ([verb]: readonly string[]) => verb === 'ls' }
    expect(unknownCommands(blocksOf(page(text)), known)).toEqual([
      'docs/a.md:3 says parley dance, which is not a command',
      'docs/a.md:4 says npm run fly, which is not a script',
    ])
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // Not JSON is the answer here, not a failure.
  }
}

/** A group without words of its own, such as `parley mcp`, is followed by one of its commands. */
function isCommand([name, ...rest]: readonly string[], rows: readonly CommandRow[]): boolean {
  const row = rows.find(({ usage }) => usage.split(' ', 1)[0] === name)
  const inner = row?.commands ?? []
  return (
    row !== undefined && (inner.length === 0 || row.usage.includes(' ') || rest.length === 0 || isCommand(rest, inner))
  )
}

function textOf(path: string): string {
  return path.endsWith('.md') ? read(root, path) : ''
}

function faultPoints(): readonly string[] {
  const { program } = parse({ path: 'src/ports/fault.ts', text: read(root, 'src/ports/fault.ts') })
  return program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : undefined
    if (declared?.type !== 'TSTypeAliasDeclaration' || declared.typeAnnotation.type !== 'TSUnionType') return []
    return declared.typeAnnotation.types.flatMap((type) =>
      type.type === 'TSLiteralType' && type.literal.type === 'Literal' ? [String(type.literal.value)] : [],
    )
  })
}
