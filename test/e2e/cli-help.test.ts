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

/** As a shell cuts it into words; what it redirects goes nowhere that matters. */
function wordsOf(example: string): readonly string[] {
  const shell = `parley() { [ $# -eq 0 ] || printf '%s\\0' "$@" >&2; }; ${example}`
  const { status, stderr } = spawnSync('/bin/sh', ['-c', shell], { cwd: freshDirectory(), encoding: 'utf8' })
  expect({ example, status }).toEqual({ example, status: 0 })
  return stderr.split('\0').slice(0, -1)
}

/** What `--help` prints, without a process for each command. */
async function helpOf(heading: string): Promise<string> {
  let text = ''
  const words = [...heading.split(' ').slice(1), '--help']
  const program = programFor(words, async () => undefined)
  for (const command of [program, ...below(program)]) command.configureOutput({ writeOut: (more) => (text += more) })
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toMatchObject({ exitCode: 0 })
  return text
}

function below({ commands: own }: Command): readonly Command[] {
  return own.flatMap((command) => [command, ...below(command)])
}

describe('the examples of --help', () => {
  test.each(rows)('of $heading are one to three, and are understood as they stand', async ({ heading, examples }) => {
    expect([1, 2, 3]).toContain(examples.length)
    for (const example of examples) {
      const words = wordsOf(example)
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

describe('the real binary', () => {
  const home = freshDirectory()

  test.each([['--help'], ['-h'], ['help']])('%s lists every command and the options of a chat', async (flag) => {
    const { code, stdout, stderr } = await parley([flag], { home })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const row of commands) expect(stdout).toMatch(new RegExp(`^  ${nameOf(row)} `, 'mu'))
    for (const { flags } of chat.options) expect(stdout).toContain(flags)
    expect(stdout).toContain('--version')
  })

  test('prints the help of a command of a command', async () => {
    const { code, stdout, stderr } = await parley(['docs', 'key', 'add', '--help'], { home })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(await helpOf('parley docs key add'))
  })

  test.each([['--version'], ['-V']])('%s prints the version and nothing else', async (flag) => {
    expect(await parley([flag], { home })).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([
    ['rnu', '(Did you mean run?)'],
    ['sohw', '(Did you mean show?)'],
    ['dance', "unknown command 'dance'"],
    ['mcp tset', '(Did you mean test?)'],
    ['rules dance', "unknown command 'dance'"],
    ['docs key lss', '(Did you mean ls?)'],
    ['docs key', 'Usage: parley docs key'],
  ])('parley %s is wrong usage and says %s', async (words, says) => {
    const { code, stdout, stderr } = await parley(words.split(' '), { home })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(says)
  })

  test('a command whose argument is missing names its own help', async () => {
    const { code, stderr } = await parley(['rename'], { home })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('(see parley rename --help)') })
  })

  test('so does one of a command within a command', async () => {
    const { code, stderr } = await parley(['docs', 'key', 'add'], { home })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('(see parley docs key add --help)') })
  })

  test('a wrong flag suggests the right one', async () => {
    const { code, stderr } = await parley(['ls', '--jsno'], { home })
    expect(code).toBe(2)
    expect(stderr).toContain('(Did you mean --json?)')
  })
})
