import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { programFor } from '../../src/cli/main.ts'
import type { CommandRow } from '../../src/cli/runtime/command.ts'
import { chat, commands } from '../../src/cli/command-table.ts'
import { parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

const root = new URL('../..', import.meta.url)
const page = readFileSync(new URL('docs/commands.md', root), 'utf8')
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { readonly version: string }
const rows = [{ ...chat, heading: 'parley', row: chat }, ...commands.flatMap((row) => rowsBelow('parley', row))]

/** A command and its own commands, each under the words that a user types. */
function rowsBelow(
  parent: string,
  row: CommandRow,
): readonly (CommandRow & { readonly heading: string; readonly row: CommandRow })[] {
  const heading = `${parent} ${nameOf(row)}`
  return [{ ...row, heading, row }, ...(row.commands ?? []).flatMap((one) => rowsBelow(heading, one))]
}

function nameOf({ usage }: { readonly usage: string }): string {
  return usage.split(' ', 1)[0] ?? ''
}

describe('docs/commands.md', () => {
  test('has a section for every command, in their order, and for no other', () => {
    const headings = [...page.matchAll(/^##+ (parley.*)$/gmu)].map(([, heading]) => heading)
    expect(headings).toEqual(rows.map(({ heading }) => heading))
  })

  test.each(rows)('lists every option of $heading, and no other', ({ heading, options }) => {
    const [, section = ''] = page.split(`## ${heading}\n`)
    const own = section.split(/\n##+ /u, 1)[0] ?? ''
    const listed = [...own.matchAll(/^\| `(-.*?)` \| (.*) \|$/gmu)].map(([, flags, summary]) => ({ flags, summary }))
    const shown = options.filter(({ hidden }) => hidden !== true)
    expect(listed).toEqual(shown.map(({ flags, summary }) => ({ flags, summary })))
  })
})

test.each(commands.flatMap((row) => leavesBelow(row, row.instead)))(
  '$usage works with a remote server, or says what to do instead',
  ({ isRemote, instead }) => {
    if (isRemote !== true) expect(instead).toMatch(/^[A-Z].+\.$/u)
  },
)

function leavesBelow(row: CommandRow, instead: string | undefined): readonly CommandRow[] {
  const own = row.instead ?? instead
  const said = own === undefined ? row : { ...row, instead: own }
  return [said, ...(row.commands ?? []).flatMap((one) => leavesBelow(one, said.instead))]
}

/** The words of each example as a shell cuts it; what it redirects goes nowhere that matters. */
const wordsOf = new Map(cutIntoWords(rows.flatMap(({ examples }) => examples)))

function cutIntoWords(examples: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const shell = [
    `parley() { [ $# -eq 0 ] || printf '%s\\0' "$@" >&2; }`,
    ...examples.map((example) => `(${example}\n) || exit 1; printf '\\001' >&2`),
  ]
  const { stderr } = spawnSync('/bin/sh', ['-c', shell.join('\n')], { cwd: freshDirectory(), encoding: 'utf8' })
  return stderr
    .split('\u0001')
    .slice(0, -1)
    .map((words, at) => [examples[at] ?? '', words.split('\0').slice(0, -1)])
}

/** What a command line says that starts no command, without a process for it. */
async function said(words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const more = (some: string): void => void (text += some)
  const program = programFor(words, async () => undefined)
  for (const command of [program, ...below(program)]) command.configureOutput({ writeOut: more, writeErr: more })
  const ended: unknown = await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => error)
  return { code: (ended as { readonly exitCode: number }).exitCode, text }
}

async function helpOf(heading: string): Promise<string> {
  const { code, text } = await said([...heading.split(' ').slice(1), '--help'])
  expect(code).toBe(0)
  return text
}

function below({ commands: own }: Command): readonly Command[] {
  return own.flatMap((command) => [command, ...below(command)])
}

describe('the examples of --help', () => {
  test.each(rows)('of $heading are one to three, and are understood as they stand', async ({ heading, examples }) => {
    expect([1, 2, 3]).toContain(examples.length)
    for (const example of examples) {
      const words = wordsOf.get(example)
      if (words === undefined) throw new Error(`no shell takes the example ${example}`)
      const understood: (string | undefined)[] = []
      const note = async (row: CommandRow) => void understood.push(rows.find((one) => one.row === row)?.heading)
      await programFor(words, note).parseAsync(words, { from: 'user' })
      expect(understood).toEqual([expect.stringMatching(new RegExp(`^${heading}`, 'u'))])
    }
  })

  test.each(rows)('of $heading stand below its help', async ({ heading, examples }) => {
    const [, shown = ''] = (await helpOf(heading)).split('\nExamples:\n')
    expect(shown.trimEnd().split('\n')).toEqual(examples.map((example) => `  ${example}`))
  })
})

describe('--help', () => {
  test.each(rows.slice(1))('of $heading lists its options and its commands', async ({ heading, row }) => {
    const help = await helpOf(heading)
    expect(help).toContain(`Usage: ${heading} `)
    for (const { flags, hidden } of row.options) expect(help.includes(flags)).toBe(hidden !== true)
    for (const one of row.commands ?? []) expect(help).toMatch(new RegExp(`^  ${nameOf(one)} `, 'mu'))
  })
})

describe('wrong usage', () => {
  test.each([
    ['sohw', '(Did you mean show?)'],
    ['help dance', "unknown command 'dance'"],
    ['dance', "unknown command 'dance'"],
    ['mcp tset', '(Did you mean test?)'],
    ['rules dance', "unknown command 'dance'"],
    ['docs key lss', '(Did you mean ls?)'],
    ['docs key', 'Usage: parley docs key'],
    ['rename', '(see parley rename --help)'],
    ['rename x', "missing required argument 'title'"],
    ['fork', "missing required argument 'id'"],
    ['close', "missing required argument 'id'"],
    ['rm --yes', "missing required argument 'id'"],
    ['show', "missing required argument 'id'"],
    ['run', "missing required argument 'prompt'"],
    ['run one two', 'too many arguments'],
    ['docs key add', '(see parley docs key add --help)'],
    ['ls --jsno', '(Did you mean --json?)'],
  ])('parley %s says %s', async (words, says) => {
    const { code, text } = await said(words.split(' '))
    expect(code).not.toBe(0)
    expect(text).toContain(says)
  })
})

describe('the real binary', () => {
  const home = freshDirectory()

  test.concurrent.each([['--help'], ['-h'], ['help']])(
    '%s lists every command and the options of a chat',
    async (flag) => {
      const { code, stdout, stderr } = await parley([flag], { home })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      for (const row of commands) expect(stdout).toMatch(new RegExp(`^  ${nameOf(row)} `, 'mu'))
      for (const { flags } of chat.options) expect(stdout).toContain(flags)
      expect(stdout).toContain('--version')
    },
  )

  test.concurrent('prints the help of a command of a command', async () => {
    const { code, stdout, stderr } = await parley(['docs', 'key', 'add', '--help'], { home })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(await helpOf('parley docs key add'))
  })

  test.concurrent.each([['--version'], ['-V']])('%s prints the version and nothing else', async (flag) => {
    expect(await parley([flag], { home })).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.concurrent('ends with 2 at wrong usage, and says why on stderr alone', async () => {
    const { code, stdout, stderr } = await parley(['rnu'], { home })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('(Did you mean run?)')
  })
})
