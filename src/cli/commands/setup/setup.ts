/** `parley setup`: finds the editors and agents of this machine, and shows or writes the settings that add Parley to an editor. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { confirm } from '../../prompts/confirm.ts'
import { printJson } from '../../output/json.ts'
import { isTerminal } from '../../output/terminal-io.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { lenientConfig } from '../../configured.ts'
import { type Editor, type JsonEdit, type Machine, type Start, editors } from '../../../server/setup/editors.ts'
import { isWritten } from '../../../server/setup/json-edit.ts'
import { SetupRecord } from '../../../server/setup/setup-record.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const wanted = args.map(editorNamed)
  const config = await lenientConfig()
  const machine = machineOf(config)
  const start = startOf(machine)
  const printed = textOption(options, 'print')
  if (printed !== undefined) return printLines(editorNamed(printed), machine, start)
  const record = new SetupRecord(config.home)
  const isJson = options['json'] === true
  if (options['undo'] === true) return await undo(record, { wanted, isJson })
  const chosen = wanted.length > 0 ? wanted : editors.filter((editor) => editor.isHere(machine))
  for (const editor of chosen) {
    const found = await stateOf(editor, machine, start)
    if (found.state !== 'to do') {
      report(found, isJson)
      continue
    }
    const mayWrite = options['write'] === true || (await agreed(found, { config, isJson }))
    if (mayWrite) await record.write(editor.name, found.edit)
    report(mayWrite ? { ...found, state: 'written' } : found, isJson)
  }
  if (!isJson) await summarize(chosen, config)
  return OK
}

interface FoundEditor {
  readonly editor: string
  readonly title: string
  /** `by hand`: the editor's configuration is a program, which Parley does not change. */
  readonly state: 'set up' | 'to do' | 'written' | 'by hand'
  readonly lines: string
}

type ToDo = FoundEditor & { readonly state: 'to do'; readonly edit: JsonEdit }

async function stateOf(
  editor: Editor,
  machine: Machine,
  start: Start,
): Promise<ToDo | (FoundEditor & { readonly state: 'set up' | 'by hand' })> {
  const { name, title } = editor
  const about = { editor: name, title, lines: settingLines(editor, machine, start) }
  const edit = editor.edit?.(machine, start)
  if (edit === undefined) return { ...about, state: 'by hand' }
  if (await isWritten(edit.file, edit.path, edit.value)) return { ...about, state: 'set up' }
  return { ...about, state: 'to do', edit }
}

function editorNamed(name: string): Editor {
  const known = editors.find((editor) => editor.name === name)
  if (known !== undefined) return known
  const reason = `it must be one of ${editors.map((editor) => editor.name).join(', ')}`
  return fail('CONFIG_INVALID', { key: 'editor', value: JSON.stringify(name), reason })
}

function printLines(editor: Editor, machine: Machine, start: Start): number {
  process.stdout.write(settingLines(editor, machine, start))
  return OK
}

function settingLines(editor: Editor, machine: Machine, start: Start): string {
  const lines = editor.lines?.(start)
  if (lines !== undefined) return lines
  const { path = [], value } = editor.edit?.(machine, start) ?? {}
  const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return `${JSON.stringify(nested, null, 2)}\n`
}

/** Asked at a terminal, once for each editor; elsewhere nothing is written without `--write`. */
async function agreed(
  found: ToDo,
  { config, isJson }: { readonly config: Config; readonly isJson: boolean },
): Promise<boolean> {
  if (isJson || !isTerminal(process.stdin, config) || !isTerminal(process.stderr, config)) return false
  process.stderr.write(`${found.title}: ${found.edit.file} would get\n${found.lines}`)
  return await confirm(`Write this into ${found.edit.file}?`)
}

function report(found: FoundEditor & { readonly edit?: JsonEdit }, isJson: boolean): void {
  const { edit, ...about } = found
  if (isJson) return printJson({ ...about, ...(edit !== undefined && { file: edit.file }) })
  process.stdout.write(`${found.title}: ${WORDS[found.state](edit?.file ?? '', found.editor)}\n`)
  if (found.state === 'to do' || found.state === 'by hand') process.stdout.write(found.lines)
}

const WORDS: Readonly<Record<FoundEditor['state'], (file: string, name: string) => string>> = {
  'set up': () => 'has Parley',
  'to do': (file, name) => `parley setup ${name} --write adds this to ${file}:`,
  written: (file) => `Parley is in ${file} now; parley setup --undo takes it out again`,
  'by hand': () => 'put this into your configuration:',
}

async function undo(
  record: SetupRecord,
  { wanted, isJson }: { readonly wanted: readonly Editor[]; readonly isJson: boolean },
): Promise<number> {
  const all = await record.undo(wanted.map(({ name }) => name))
  for (const one of all) {
    if (isJson) printJson(one)
    else if (one.undone) process.stdout.write(`${one.file} is as it was\n`)
    else process.stdout.write(`${one.file} was changed since, so it is left as it is\n`)
  }
  if (all.length === 0 && !isJson) process.stdout.write('There is nothing to undo.\n')
  return OK
}

const NAMED = 'parley setup EDITOR shows what one needs:'

async function summarize(chosen: readonly Editor[], config: Config): Promise<void> {
  if (chosen.length === 0)
    process.stdout.write(`No editor was found. ${NAMED} ${editors.map(({ name }) => name).join(', ')}\n`)
  const { listAgents } = await import('../../../server/agents/list-agents.ts')
  const { openAgentTools } = await import('../../../server/compose/agent-catalogue.ts')
  const tools = openAgentTools(config)
  try {
    const here = (await listAgents(config, tools, process.cwd())).filter(({ source }) => source !== 'none')
    const names = here.map(({ name }) => oneLine(name, 60)).join(', ')
    process.stdout.write(
      names === ''
        ? 'No external agent was found; parley agents lists those that can be added.\n'
        : `Agents here: ${names}\n`,
    )
  } finally {
    await tools.close()
  }
}

/** By its full path: an editor that was not started in a shell may have another PATH. */
function startOf(machine: Machine): Start {
  const program = resolve(process.argv[1] ?? 'parley')
  const onPath = programsNamed('parley', machine.environment)[0]
  if (onPath !== undefined) return { command: onPath, args: ['acp'] }
  return { command: process.execPath, args: [program, 'acp'] }
}

function machineOf({ environment }: Config): Machine {
  return {
    platform: process.platform,
    home: environment['HOME'] ?? homedir(),
    environment,
    exists: existsSync,
    names: (path) => (existsSync(path) ? readdirSync(path) : []),
    hasProgram: (name) => programsNamed(name, environment).length > 0,
  }
}

/** In the order of PATH. */
function programsNamed(name: string, environment: Machine['environment']): readonly string[] {
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
  return directories
    .map((directory) => join(directory, process.platform === 'win32' ? `${name}.cmd` : name))
    .filter(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // It is not there, or not for this user.
    return false
  }
}
