/** `man/parley.1`, from the table of commands: the same words as `--help`, one page for all of them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CommandRow, OptionRow } from '../src/cli/runtime/command.ts'
import { chat, commands } from '../src/cli/command-table.ts'

export function writeManPage(path: string, version: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, manPage(version))
}

export function manPage(version: string): string {
  const rows = [
    ...sectionOf('parley', chat, { isChat: true }),
    ...commands.flatMap((row) => sectionOf('parley', row, { isChat: false })),
  ]
  return `${[
    `.TH PARLEY 1 "" "Parley ${escaped(version)}" "Parley"`,
    '.SH NAME',
    'parley \\- the session server for AI agents that you can kill',
    '.SH SYNOPSIS',
    '.B parley',
    '[\\fIoptions\\fR] [\\fIcommand\\fR]',
    '.SH COMMANDS',
    ...rows,
    '.SH FILES',
    'Settings stand in \\fIparley.toml\\fR of the directory for settings, and in \\fI.parley.toml\\fR of a project;',
    'sessions in the state directory, which \\fBPARLEY_HOME\\fR names.',
    '\\fBparley doctor\\fR prints where both are.',
  ].join('\n')}\n`
}

/** A command, then its own commands. */
function sectionOf(parent: string, row: CommandRow, { isChat }: { readonly isChat: boolean }): readonly string[] {
  const { usage, summary, options, examples, commands: inner = [] } = row
  const words = isChat ? parent : `${parent} ${usage}`
  const name = isChat ? parent : `${parent} ${usage.split(' ', 1)[0] ?? ''}`
  return [
    `.SS ${escaped(words)}`,
    sentence(summary),
    ...options.filter(({ hidden }) => hidden !== true).flatMap(optionLines),
    '.PP',
    '.nf',
    ...examples.map((example) => escaped(example)),
    '.fi',
    ...inner.flatMap((one) => sectionOf(name, one, { isChat: false })),
  ]
}

function optionLines({ flags, summary }: OptionRow): readonly string[] {
  return ['.TP', `.B ${escaped(flags)}`, sentence(summary)]
}

function sentence(summary: string): string {
  return `${escaped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}`)}.`
}

/** Backslashes and hyphens mean something to roff everywhere, points and quotes at the beginning of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/u, '\\&')
}
