/** A list from which the user chooses one item, by number or with the arrow keys. A long list is filtered by typing. */
import type { InTurn, ListenToKeys } from '../prompts/permission-prompt.ts'
import { type Key, isCtrlC } from '../output/terminal/keyboard.ts'
import { graphemesOf, oneLine } from '../output/terminal/text.ts'
import type { Look } from '../output/view/rows.ts'
import type { View } from '../output/view/view.ts'

export interface ListedChoice {
  readonly value: string
  readonly name: string
}

export interface ChoiceList {
  readonly title: string
  readonly choices: readonly ListedChoice[]
  /** The value that holds now. */
  readonly current: string
}

/** Rows of a list that are shown at once. */
const SHOWN = 9

/** Resolves with the chosen value, or with undefined when the user leaves the list. */
export function choosingOnKeys(listen: ListenToKeys, view: View, inTurn: InTurn) {
  return (list: ChoiceList): Promise<string | undefined> => inTurn(() => choose(list))

  function choose(list: ChoiceList): Promise<string | undefined> {
    return new Promise((resolve) => {
      let choosing = begun(list)
      const show = (): void =>
        view.showAsked({ title: list.title, toolCallId: '', rows: (look) => rowsOf(choosing, look) })
      const settle = (choice: ListedChoice | undefined): void => {
        stop()
        view.endQuestion(choice?.name ?? null)
        resolve(choice?.value)
      }
      const stop = listen((key) => {
        if (key.name === 'escape' || isCtrlC(key)) return settle(undefined)
        const next = pressed(choosing, key)
        if ('chosen' in next) return settle(next.chosen)
        choosing = next
        show()
      }, 'with Ctrl-C')
      show()
    })
  }
}

interface Choosing {
  readonly list: ChoiceList
  /** The text that the user typed to filter the sessions. */
  readonly typed: string
  readonly at: number
}

function begun(list: ChoiceList): Choosing {
  return {
    list,
    typed: '',
    at: Math.max(
      0,
      list.choices.findIndex(({ value }) => value === list.current),
    ),
  }
}

function pressed(choosing: Choosing, key: Key): Choosing | { readonly chosen: ListedChoice } {
  const found = foundIn(choosing)
  const at = Math.min(choosing.at, Math.max(0, found.length - 1))
  const numbered = /^[1-9]$/u.test(key.text) ? found[firstOf(at, found.length) + Number(key.text) - 1] : undefined
  const chosen = key.name === 'return' ? found[at] : numbered
  if (chosen !== undefined) return { chosen }
  if (key.name === 'up') return { ...choosing, at: Math.max(0, at - 1) }
  if (key.name === 'down') return { ...choosing, at: Math.min(found.length - 1, at + 1) }
  if (key.name === 'backspace') return { ...choosing, at: 0, typed: graphemesOf(choosing.typed).slice(0, -1).join('') }
  return key.text === '' ? choosing : { ...choosing, at: 0, typed: choosing.typed + oneLine(key.text) }
}

function foundIn({ list, typed }: Choosing): readonly ListedChoice[] {
  const words = typed.toLowerCase()
  return list.choices.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(words))
}

/** The first that is shown, so that the one at `at` is. */
function firstOf(at: number, count: number): number {
  return Math.max(0, Math.min(at - Math.floor(SHOWN / 2), count - SHOWN))
}

function rowsOf(choosing: Choosing, { paint, width }: Look): readonly string[] {
  const { list, typed } = choosing
  const found = foundIn(choosing)
  const at = Math.min(choosing.at, Math.max(0, found.length - 1))
  const first = firstOf(at, found.length)
  const rows = found.slice(first, first + SHOWN).map(({ name, value }, index) => {
    const isAt = first + index === at
    const held = value === list.current ? paint('dim', ' (now)') : ''
    const text = oneLine(name, width() - 14)
    return `${isAt ? paint('asking', '▸') : ' '} ${paint('code', String(index + 1))}  ${isAt ? paint('bold', text) : text}${held}`
  })
  const left = found.length - rows.length
  return [
    `${paint('asking', '?')} ${paint('bold', oneLine(list.title, width() - 4))}${typed === '' ? '' : ` ${typed}`}`,
    ...(rows.length === 0 ? [paint('dim', '  No name matches.')] : rows),
    ...(left > 0 ? [paint('dim', `  ${left} more: ↑ ↓, or type a part of the name`)] : []),
    paint('dim', '  Press a number or Enter to choose, Esc to change nothing.'),
  ]
}
