/** The slash commands of the chat itself: settings, help, the full text of a tool call. All others go to the agent. */
import type { Client } from '../../client/client.ts'
import type { Setting } from '../../client/sessions/agent-settings.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { Paint } from '../output/terminal/colors.ts'
import { oneLine } from '../output/terminal/text.ts'
import { wrapSpans } from '../output/terminal/wrap.ts'
import type { View } from '../output/view/view.ts'
import type { ListedChoice, ChoiceList } from './choosing.ts'
import { currentName } from './status-line.ts'

export interface SlashCommand {
  readonly name: string
  /** The argument that may follow the command. */
  readonly hint: string
  readonly description: string
}

/** A command of the agent with the same name is reached with two slashes. */
const CHAT_COMMANDS: readonly SlashCommand[] = [
  { name: 'model', hint: '[NAME]', description: 'choose the model' },
  { name: 'mode', hint: '[NAME]', description: 'choose what the agent may do without asking' },
  { name: 'set', hint: '[OPTION [VALUE]]', description: 'change any option of the agent' },
  { name: 'expand', hint: '[N]', description: 'print all of a tool call' },
  { name: 'force', hint: '', description: 'cancel, and end an external agent that does not listen' },
  { name: 'help', hint: '', description: 'show keys and commands' },
  { name: 'quit', hint: '', description: 'leave; the session stays' },
]

export interface SlashMeans {
  readonly client: Client
  readonly sessionId: string
  readonly view: View
  readonly choose: (list: ChoiceList) => Promise<string | undefined>
  readonly leave: () => void
}

export class SlashCommands {
  readonly #means: SlashMeans

  constructor(means: SlashMeans) {
    this.#means = means
  }

  /** Those of the chat, then those of the agent that are not hidden behind them. */
  get all(): readonly SlashCommand[] {
    const names = new Set(CHAT_COMMANDS.map(({ name }) => name))
    const commands = this.#means.view.transcript.commands.map((command) => ({
      hint: typeof command.input?.hint === 'string' ? command.input.hint : '',
      description: command.description ?? '',
      name: names.has(command.name) ? `/${command.name}` : command.name,
    }))
    return [...CHAT_COMMANDS, ...commands]
  }

  /** True when the chat has taken it upon itself; false for what is to be sent to the agent. */
  run(line: string): boolean {
    const [, name = '', rest = ''] = /^\/(\S+)\s*(.*?)\s*$/su.exec(line) ?? []
    if (!CHAT_COMMANDS.some((command) => command.name === name)) return false
    this.#do(name, rest).catch((error: unknown) => {
      if (!isParleyError(error)) throw error
      this.#say('bad', reasonOf(error))
    })
    return true
  }

  /** Completions for the arguments of a command of the chat; undefined for a command of the agent. */
  valuesFor(name: string, rest: string): readonly string[] | undefined {
    if (name === 'model' || name === 'mode') return valuesOf(this.#settingOf(name))
    if (name !== 'set') return CHAT_COMMANDS.some((command) => command.name === name) ? [] : undefined
    const [id = '', value] = rest.split(/\s+/u)
    if (value === undefined) return this.#settings.map((setting) => setting.id)
    return valuesOf(this.#settings.find((setting) => setting.id === id))
  }

  async #do(name: string, rest: string): Promise<void> {
    switch (name) {
      case 'help':
        return this.#say('plain', helpText(this.all, this.#means.view.width))
      case 'quit':
        return this.#means.leave()
      case 'force':
        return this.#force()
      case 'expand':
        return this.#expand(rest)
      case 'set':
        return this.#set(rest)
      default:
        return this.#change(this.#settingOf(name), rest, `This agent offers no ${name}s to choose from.`)
    }
  }

  async #force(): Promise<void> {
    const isEnded = await this.#means.client.forceCancel(this.#means.sessionId)
    this.#say('dim', isEnded ? 'The agent was ended. Your next prompt starts it again.' : 'No agent had to be ended.')
  }

  #expand(rest: string): void {
    const number = rest === '' ? undefined : Number(rest)
    if (this.#means.view.expand(number)) return this.#means.view.gap()
    this.#say('dim', number === undefined ? 'No tool call has more to show.' : `No tool call has the number ${rest}.`)
  }

  async #set(rest: string): Promise<void> {
    const [, id = '', value = ''] = /^(\S*)\s*(.*)$/su.exec(rest) ?? []
    if (this.#settings.length === 0) return this.#say('dim', 'This agent has no options.')
    const wanted = id === '' ? await this.#chosenOption() : id
    if (wanted === undefined) return
    const setting = this.#settings.find((one) => one.id === wanted || one.name.toLowerCase() === wanted.toLowerCase())
    const known = this.#settings.map((one) => one.id).join(', ')
    await this.#change(setting, value, `This agent has no option ${wanted}. It has: ${known}`)
  }

  #chosenOption(): Promise<string | undefined> {
    const choices = this.#settings.map((setting) => ({
      value: setting.id,
      name: `${setting.name}: ${currentName(setting)}`,
    }))
    return this.#means.choose({ title: 'Which option?', choices, current: '' })
  }

  /** Prints nothing on success, because the agent reports the new value in an update that every client gets. */
  async #change(setting: Setting | undefined, wish: string, otherwise: string): Promise<void> {
    if (setting === undefined) return this.#say('dim', otherwise)
    const { client, sessionId, choose } = this.#means
    const choices = choicesOf(setting)
    const list = { title: setting.name, choices, current: String(setting.value) }
    const value = wish === '' ? await choose(list) : (namedIn(choices, wish) ?? wish)
    if (value === undefined) return
    await client.set(sessionId, setting.id, value)
  }

  get #settings(): readonly Setting[] {
    return this.#means.client.settings(this.#means.sessionId)
  }

  #settingOf(category: string): Setting | undefined {
    return this.#settings.find((setting) => setting.category === category || setting.id === category)
  }

  #say(style: 'plain' | 'dim' | 'bad', text: string): void {
    this.#means.view.note(style, text)
    this.#means.view.gap()
  }
}

function choicesOf({ value, choices }: Setting): readonly ListedChoice[] {
  if (typeof value !== 'boolean') return choices
  return [
    { value: 'true', name: 'on' },
    { value: 'false', name: 'off' },
  ]
}

function valuesOf(setting: Setting | undefined): readonly string[] {
  return setting === undefined ? [] : choicesOf(setting).map(({ value }) => value)
}

/** Users type names as they see them. */
function namedIn(choices: readonly ListedChoice[], wish: string): string | undefined {
  const words = wish.toLowerCase()
  return choices.find(({ value, name }) => value.toLowerCase() === words || name.toLowerCase() === words)?.value
}

const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', 'sends; while a turn runs, the message waits in the queue'],
  ['\\ Enter, Alt-Enter, Ctrl-J', 'begins a new line; so does Shift-Enter where the terminal tells it apart'],
  ['↑ ↓', 'earlier prompts; on an empty line ↑ takes the newest queued message back'],
  ['Esc', 'cancels the turn that runs'],
  ['Ctrl-C', 'cancels the turn; pressed again, or without a turn on an empty line, leaves'],
  ['Ctrl-D', 'leaves; a running turn continues in the server'],
  ['Ctrl-O', 'prints all of the last tool call or question that was shortened'],
  ['Tab', 'completes a command and what stands behind it'],
  ['Ctrl-A/E/W/U/K/Y, Alt-B/F', 'move, delete and bring back, as in a shell'],
  ['Ctrl-L', 'clears the screen'],
]

/** The keys of a chat, and every command that may be typed. */
function helpText(commands: readonly SlashCommand[], width: number): string {
  const rows = commands.map(({ name, hint, description }) => [
    oneLine(`/${name} ${hint}`, 28),
    oneLine(description, 200),
  ])
  return ['Keys', ...alignedRows(KEYS, width), '', 'Commands', ...alignedRows(rows, width)].join('\n')
}

/** On a narrower screen, each description stands below its name. */
const TWO_COLUMNS = 60

function alignedRows(rows: readonly (readonly string[])[], width: number): readonly string[] {
  const isNarrow = width < TWO_COLUMNS
  const rest = ' '.repeat(isNarrow ? 6 : 30)
  return rows.flatMap(([left = '', right = '']) => {
    const first = isNarrow ? rest : `  ${left.padEnd(27)} `
    const said = wrapSpans([{ style: 'plain', text: right, at: 0 }], { width, first, rest, paint: unpainted })
    return [...(isNarrow ? [`  ${left}`] : []), ...said.map(({ text }) => text)]
  })
}

const unpainted: Paint = (_style, text) => text
