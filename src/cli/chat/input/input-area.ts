/** The user's end of a chat: one keyboard, one screen, the input line, and which part of the chat has the keys now. */
import type { ReadStream, WriteStream } from 'node:tty'
import type { Suggested } from '../../../client/connection/responses.ts'
import type { ListenToKeys } from '../../prompts/permission-prompt.ts'
import type { Stops } from '../../runtime/shutdown-signals.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { type Key, isCtrlC } from '../../output/terminal/keyboard.ts'
import { TerminalModes } from '../../output/terminal/modes.ts'
import { after } from '../../output/terminal/pace.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { Look } from '../../output/view/rows.ts'
import type { View } from '../../output/view/view.ts'
import { type Below, ChatScreen } from '../chat-screen.ts'
import { ChatComposer } from './composer.ts'
import type { ChatConversation, WaitingPrompt } from '../conversation.ts'
import type { SlashCommands } from '../slash-commands.ts'
import { type StatusLineState, statusRow } from '../status-line.ts'

/** The actions of a user once the session is open. */
export interface Seat {
  readonly talk: ChatConversation
  readonly view: View
  readonly commands: SlashCommands
  /** Earlier prompts, newest first. */
  readonly history: readonly string[]
  suggest(command: string, text: string): Promise<Suggested>
  standing(): Omit<StatusLineState, 'urgent' | 'waiting'>
}

/** Rows of the queue that are shown. */
const MOST_WAITING = 5
const HINT = 'Type a prompt, or /help'
/** Milliseconds. */
const SHOWN_FOR = 6_000
const LEAVING = 'Press Ctrl-C again to leave, or Ctrl-D.'

export class InputArea {
  readonly screen: ChatScreen
  readonly look: Look
  readonly #modes: TerminalModes
  readonly #composer: ChatComposer
  #seat: Seat | undefined
  #stops: Stops | undefined
  /** The question, form or list that gets the keys instead of the input line. */
  #asked: { readonly pressed: (key: Key) => void; readonly ctrlC: boolean } | undefined
  /** The last key was a Ctrl-C that did nothing but say how to leave. */
  #isWarned = false
  #connection = ''
  /** A message that is shown for a moment, and how to stop that. */
  #flash: { readonly text: string; readonly stop: () => void } | undefined
  #leave: () => void = () => undefined

  constructor(input: ReadStream, output: WriteStream, paint: Paint) {
    this.screen = new ChatScreen(output, (height) => this.#below(height))
    this.look = { paint, width: this.screen.width }
    this.#modes = new TerminalModes(input, output, {
      pressed: (key) => this.#press(key),
      resized: () => this.#redraw(),
    })
    this.#composer = new ChatComposer({
      commands: () => this.#seat?.commands.all ?? [],
      suggest: (command, text) => this.#suggest(command, text),
      changed: () => this.screen.refresh(),
    })
  }

  /** Takes the keyboard. Resolves when the user leaves, or the program must end. */
  open(stops: Stops): Promise<void> {
    this.#stops = stops
    this.#modes.begin()
    this.#onInterrupts(stops)
    return new Promise((resolve) => {
      this.#leave = resolve
      stops.signal.addEventListener('abort', () => resolve())
      if (stops.signal.aborted) resolve()
    })
  }

  /** The session is open: from now on what is written is sent. */
  begin(seat: Seat): void {
    this.#seat = seat
    this.#composer.editor.remember(seat.history)
    this.screen.refresh()
  }

  leave(): void {
    this.#leave()
  }

  /** Gives the terminal back as it was; `rows` stay as the last ones. Idempotent. */
  close(rows: readonly string[]): void {
    if (!this.#modes.isOn) return
    this.#seat?.view.end()
    this.screen.leave(rows)
    this.#modes.end()
  }

  /** How the connection is, when that is worth a word. */
  set connection(text: string) {
    this.#connection = text
  }

  refresh(): void {
    this.screen.refresh()
  }

  /** Says something that is worth a look, and no row that stays. */
  flash(text: string): void {
    this.#flash?.stop()
    const stop = after(SHOWN_FOR, () => {
      this.#flash = undefined
      this.screen.refresh()
    })
    this.#flash = { text, stop }
    this.screen.refresh()
  }

  /** Brings a prompt that was not answered back to the line, before what is written there. */
  giveBack(text: string): void {
    const { editor } = this.#composer
    editor.set(editor.isEmpty ? text : `${text}\n${editor.text}`)
    this.screen.refresh()
  }

  readonly lendKeys: ListenToKeys = (pressed, ctrlC) => {
    const asked = { pressed, ctrlC: ctrlC !== undefined }
    this.#asked = asked
    return () => {
      if (this.#asked === asked) this.#asked = undefined
      this.screen.refresh()
    }
  }

  #press(key: Key): void {
    const wasWarned = this.#isWarned
    this.#isWarned = false
    if (this.#asked !== undefined && !(isCtrlC(key) && !this.#asked.ctrlC)) return this.#pressAsked(key, this.#asked)
    if (isCtrlC(key)) return this.#interrupt(wasWarned)
    const { editor } = this.#composer
    const isEmpty = editor.isEmpty
    const isFresh = isEmpty && !editor.isBrowsing
    if (isFresh && key.name === 'up' && this.#takeBack()) return
    const pressed = this.#composer.press(key)
    if (pressed === 'enter') this.#enter()
    else if (pressed === 'unused') this.#do(key, isEmpty)
    this.screen.refresh()
  }

  #pressAsked(key: Key, { pressed, ctrlC }: { readonly pressed: (key: Key) => void; readonly ctrlC: boolean }): void {
    if (key.ctrl && key.name === 'o' && this.#seat?.view.expandQuestion() === true) return
    // A form has its own use for Esc; a question is refused with the turn.
    if (key.name === 'escape' && !ctrlC) return this.#seat?.talk.cancel()
    pressed(key)
  }

  #do(key: Key, isEmpty: boolean): void {
    if (key.name === 'escape') this.#cancel()
    if (key.ctrl && key.name === 'd' && isEmpty) this.#leave()
    if (key.ctrl && key.name === 'o') this.#seat?.commands.run('/expand')
    if (key.ctrl && key.name === 'l') this.screen.clear()
    if (key.ctrl && key.name === 'z') this.#suspend()
  }

  #enter(): void {
    if (this.#seat === undefined || this.#composer.editor.text.trim() === '') return
    const text = this.#composer.editor.take()
    if (this.#seat.commands.run(text)) return
    // Two slashes are for a command of the agent that has the name of one of ours.
    this.#seat.talk.submit(text.startsWith('//') ? text.slice(1) : text)
  }

  #takeBack(): boolean {
    const text = this.#seat?.talk.takeBack()
    if (text === undefined) return false
    this.giveBack(text)
    return true
  }

  #cancel(): void {
    if (this.#seat?.talk.isBusy === true && !this.#seat.talk.isCancelling) this.#seat.talk.cancel()
  }

  /** Ctrl-C cancels the running turn, and leaves if pressed again before the turn has ended. Without a turn it clears the line, then says how to leave, then leaves. */
  #interrupt(wasWarned: boolean): void {
    const { talk } = this.#seat ?? {}
    if (talk === undefined) return this.#stops?.interrupt()
    const { editor } = this.#composer
    if (talk.isBusy) {
      if (talk.isCancelling) this.#leave()
      else talk.cancel()
    } else if (!editor.isEmpty) editor.clear()
    else if (wasWarned) this.#leave()
    else this.#isWarned = true
    this.screen.refresh()
  }

  /** A Ctrl-C that comes as a signal is one like any other. */
  #onInterrupts(stops: Stops): void {
    stops.onInterrupt(() => {
      if (this.#seat === undefined) return stops.interrupt()
      this.#onInterrupts(stops)
      this.#press({ text: '', name: 'c', ctrl: true })
    })
  }

  #suspend(): void {
    this.screen.leave([])
    this.#modes.suspend(() => this.screen.comeBack())
  }

  #redraw(): void {
    if (this.#seat === undefined) this.screen.refresh()
    else this.#seat.view.refresh()
  }

  async #suggest(command: string, text: string): Promise<Suggested> {
    const own = this.#seat?.commands.valuesFor(command, text)
    if (own === undefined) return (await this.#seat?.suggest(command, text)) ?? { value: '', values: [] }
    const value = /\S*$/u.exec(text)?.[0] ?? ''
    return { value, values: own.filter((one) => one.startsWith(value)) }
  }

  #below(height: number): Below {
    if (this.#seat === undefined) return { rows: [], cursor: undefined }
    const waiting = this.#seat.talk.waiting
    const status = statusRow(this.#standing(this.#seat, waiting), this.look)
    if (this.#asked !== undefined) return { rows: [status], cursor: undefined }
    const above = this.#waitingRows(waiting)
    const room = Math.max(1, Math.min(10, Math.floor(height / 3)))
    const { rows, cursor } = this.#composer.rows(this.look, {
      height: room,
      hint: waiting.length === 0 ? HINT : '',
    })
    return { rows: [...above, ...rows, status], cursor: { ...cursor, row: cursor.row + above.length } }
  }

  #standing(seat: Seat, waiting: readonly WaitingPrompt[]): StatusLineState {
    const urgent = this.#isWarned ? LEAVING : this.#connection || (this.#flash?.text ?? '')
    return { ...seat.standing(), waiting: waiting.length, urgent }
  }

  #waitingRows(waiting: readonly WaitingPrompt[]): readonly string[] {
    const { paint, width } = this.look
    const rows = waiting.slice(-MOST_WAITING).map(({ text, isMine }) => {
      const whose = isMine ? 'queued' : 'queued by another'
      return `  ${paint('dim', oneLine(`${whose}: ${text}`, width() - 4))}`
    })
    const left = waiting.length - rows.length
    const more = left > 0 ? [paint('dim', `  … ${left} before these`)] : []
    const isOurs = waiting.some(({ isMine }) => isMine)
    return [...more, ...rows, ...(isOurs ? [paint('dim', '  ↑ takes the last of yours back')] : [])]
  }
}
