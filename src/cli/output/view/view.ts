/** Renders a turn for users: text as it streams, the current tool calls and plan, and that work is in progress. */
import type { PermissionQuestion } from '../../../client/incoming/permission-requests.ts'
import { type EndItem, type MessageRole, roleOf } from '../../../client/transcript/items.ts'
import { GrowingTranscript, type Transcript } from '../../../client/transcript/transcript.ts'
import type { Content, ToolCallUpdate, Update } from '../../../client/incoming/updates.ts'
import type { Paint, Style } from '../terminal/colors.ts'
import { Flow } from '../terminal/flow.ts'
import { after, now } from '../terminal/pace.ts'
import type { Screen } from '../terminal/screen.ts'
import { clean, oneLine } from '../terminal/text.ts'
import { wrapSpans } from '../terminal/wrap.ts'
import { asideOf, endLine, usageOf } from './aside.ts'
import { callRows, isFolded, wholeCallRows } from './call-rows.ts'
import { type ShownQuestion, askedOf, isNotice, isOver, planRows, contentText, toolRow } from './rows.ts'
import { Settled } from './settled.ts'

export interface Surfaces {
  readonly screen: Screen
  readonly paint: Paint
  /** Receives the agent's own text unchanged, when the screen is not the output: a file or a pipe. */
  readonly answer?: (text: string) => void
  /** Answer and screen are one file or pipe, so that rows must not begin in the middle of a line of the answer. */
  readonly isShared?: boolean
  /** The view of a chat: calls show their results, and the line below shows the status of the session. */
  readonly chat?: true
}

/** Milliseconds between two frames, and of silence until a wheel turns. */
const FRAME = 33
const SILENCE = 300
const WHEEL = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

export class View {
  readonly #surfaces: Surfaces
  #transcript = new GrowingTranscript()
  readonly #running = new Map<string, ToolCallUpdate>()
  readonly #over = new Set<string>()
  /** The numbers by which the user asks for whole calls: their order in the session. */
  readonly #numbers = new Map<string, number>()
  /** The message that is being streamed. */
  #message: { readonly key: string; readonly role: MessageRole; readonly flow: Flow } | undefined
  readonly #settled = new Settled()
  #planShown = false
  #question: ShownQuestion | undefined
  #status = ''
  #working: { readonly since: number } | undefined
  #heard = 0
  /** Stop the next frame, and the frame that only turns the wheel. */
  #frame: (() => void) | undefined
  #turn: (() => void) | undefined
  #silence: (() => void) | undefined
  /** The context usage, to be shown once the turn is over, and the last line outside of the conversation. */
  #usage: string | undefined
  /** The newest end of a turn that is shown, or was before this turn began. */
  #knownEnd: EndItem | undefined
  /** It was this client that asked the turn to end. */
  #isCancelledHere = false
  #lastAside = ''
  /** How the answer ends that goes elsewhere. */
  #answerEnd: 'nothing' | 'line' | 'open' = 'nothing'

  constructor(surfaces: Surfaces) {
    this.#surfaces = surfaces
  }

  get transcript(): Transcript {
    return this.#transcript
  }

  /** Loads the earlier conversation, which is not shown again. */
  recall(transcript: Transcript): void {
    this.#transcript = new GrowingTranscript(transcript)
    this.#knownEnd = this.#lastEnd
    for (const item of transcript.items) {
      if (item.kind !== 'tool_call') continue
      this.#numberOf(item.call)
      if (isOver(item.call)) this.#over.add(item.call.toolCallId)
    }
  }

  /** A turn has begun: until it ends, silence is shown as work. */
  begin(): void {
    this.#silence?.()
    this.#working = { since: now() }
    this.#heard = now()
    this.#settled.begin()
    this.#answerEnd = 'nothing'
    this.#knownEnd = this.#lastEnd
    this.#isCancelledHere = false
    this.#draw()
  }

  /** The turn is over: everything is settled, and an end before its time has a mark. `stopReason`: as the response to the prompt says it. */
  end(stopReason = 'end_turn'): void {
    this.#endMessage()
    for (const call of this.#running.values()) this.#settled.push(this.#callRows(call))
    this.#running.clear()
    if (this.#planShown) this.#settled.push(planRows(this.#transcript.plan, this.#look))
    this.#planShown = false
    this.#sayUsage()
    if (this.#answerEnd === 'open') this.#answer('\n')
    this.#working = undefined
    const mark = this.#endMark(stopReason)
    if (mark === undefined) this.#draw()
    else this.note('dim', mark)
  }

  /** The turn was asked to end: nothing of it is shown as running while its agent still has something to say. */
  cancelling(): void {
    this.#isCancelledHere = true
    this.#transcript.cancel()
    for (const id of this.#running.keys()) {
      const call = this.#transcript.call(id)
      if (call !== undefined) this.#running.set(id, call)
    }
    this.#draw()
  }

  update(update: Update): void {
    this.#transcript.take(update)
    this.#heard = now()
    const role = roleOf(update)
    if (role !== undefined) this.#chunk(role, update)
    else if (update.sessionUpdate.startsWith('tool_call')) this.#toolCall(update)
    else if (update.sessionUpdate === 'plan') this.#plan()
    else this.#aside(update)
    this.#soon()
  }

  /** Shows a prompt above its answer. */
  prompt(text: string): void {
    this.#endMessage()
    const flow = new Flow({ ...this.#look, only: 'user', lead: '› ' })
    this.#settled.push([...flow.push(clean(text)), ...flow.end(), ''])
    this.#draw()
  }

  /** A line of ours. */
  note(style: Style, text: string): void {
    this.#endMessage()
    const flow = new Flow({ ...this.#look, only: style })
    this.#settled.push([...flow.push(clean(text)), ...flow.end()])
    this.#draw()
  }

  showQuestion(question: PermissionQuestion, hint = ''): void {
    this.showAsked(askedOf(question, hint))
  }

  showAsked(asked: ShownQuestion): void {
    this.#question = asked
    this.#draw()
  }

  /** `answer` is the chosen option, or why the question ended; null to show nothing. */
  endQuestion(answer: string | null): void {
    const question = this.#question
    if (question === undefined) return
    this.#question = undefined
    if (answer !== null) this.#settleQuestion(question, oneLine(answer))
    this.#heard = now()
    this.#draw()
  }

  /** Shows one status line below the conversation; an empty text removes it. */
  showStatus(text: string): void {
    if (text === this.#status) return
    this.#status = text
    this.#draw()
  }

  /** Shows what is live where the screen has it now. */
  refresh(): void {
    this.#draw()
  }

  /** Sets what follows apart. */
  gap(): void {
    const { screen } = this.#surfaces
    screen.draw([...this.#settledRows(), ''], screen.moves ? this.#live() : [])
    this.#settled.begin()
  }

  /** Prints the full text of the call with this number, or of the last call that was shortened. False when there is none. */
  expand(number?: number): boolean {
    const call = number === undefined ? this.#lastFolded() : this.#callAt(number)
    if (call === undefined) return false
    this.#endMessage()
    this.#settled.space()
    this.#settled.push(wholeCallRows(call, this.#look))
    this.#settled.space()
    this.#draw()
    return true
  }

  /** Prints the full text of the open question. False when no question is open, or when it is shown completely. */
  expandQuestion(): boolean {
    const rows = this.#question?.whole?.(this.#look) ?? []
    if (rows.length === 0) return false
    this.#endMessage()
    this.#settled.push(rows)
    this.#draw()
    return true
  }

  /** Columns, as they are now. */
  get width(): number {
    return this.#surfaces.screen.width()
  }

  get #look() {
    const more = this.#surfaces.chat === true ? ': Ctrl-O prints them' : undefined
    return { paint: this.#surfaces.paint, width: this.#surfaces.screen.width, more }
  }

  #settleQuestion({ title }: ShownQuestion, said: string): void {
    const { paint } = this.#surfaces
    this.#endMessage()
    const spans = [
      { style: 'plain', text: `${oneLine(title)} `, at: 0 },
      { style: 'dim', text: `→ ${said}`, at: 0 },
    ] as const
    const rows = wrapSpans(spans, { width: this.width - 2, first: '', rest: '', paint })
    const marks = [`${paint('asking', '?')} `]
    this.#settled.push(rows.map(({ text }, index) => `${marks[index] ?? '  '}${text}`))
  }

  #chunk(role: MessageRole, update: Update): void {
    const text = contentText(update['content'] as Content)
    const { answer, screen } = this.#surfaces
    const key = `${role} ${String(update['messageId'])}`
    if (role === 'agent' && answer !== undefined) return this.#answerChunk(key, text)
    // Thoughts are shown in a chat only; that the model is working is shown everywhere.
    if (role === 'thought' && !screen.moves && !isNotice(update['content'])) return
    if (this.#message?.key !== key) this.#beginMessage(key, role)
    this.#settled.push(this.#message?.flow.push(text) ?? [])
  }

  #answerKey = ''

  #answerChunk(key: string, text: string): void {
    this.#endMessage()
    if (this.#answerEnd !== 'nothing' && key !== this.#answerKey)
      this.#answer(this.#answerEnd === 'open' ? '\n\n' : '\n')
    this.#answerKey = key
    this.#answer(clean(text))
  }

  #answer(text: string): void {
    if (text === '') return
    // The screen may be the same terminal: its live rows must be gone before something else is written.
    this.#surfaces.screen.draw(this.#settledRows(), [])
    this.#surfaces.answer?.(text)
    this.#answerEnd = text.endsWith('\n') ? 'line' : 'open'
  }

  /** Rows that are final. Where they follow the answer in the same file, its line is ended first. */
  #settledRows(): readonly string[] {
    const rows = this.#settled.take()
    if (rows.length > 0 && this.#answerEnd === 'open' && this.#surfaces.isShared === true) {
      this.#surfaces.answer?.('\n')
      this.#answerEnd = 'line'
    }
    return rows
  }

  #beginMessage(key: string, role: MessageRole): void {
    this.#endMessage()
    this.#settled.space()
    const only =
      role === 'thought' ? ({ only: 'dim' } as const) : role === 'user' ? ({ only: 'user', lead: '› ' } as const) : {}
    const { paint, screen } = this.#surfaces
    this.#message = { key, role, flow: new Flow({ paint, width: screen.width, ...only }) }
  }

  #endMessage(): void {
    const message = this.#message
    if (message === undefined) return
    this.#message = undefined
    this.#settled.push(message.flow.end())
    this.#settled.space()
  }

  #toolCall(update: Update): void {
    const id = String(update['toolCallId'])
    const call = this.#transcript.call(id)
    if (call === undefined) return
    const was = this.#running.get(id)
    if (!isOver(call)) {
      if (was === undefined) this.#endMessage()
      this.#running.set(id, call)
      return
    }
    this.#running.delete(id)
    // A call that is only updated has its row already.
    if (this.#over.has(id)) return
    this.#over.add(id)
    this.#endMessage()
    this.#settled.push(this.#callRows(call))
  }

  #callRows(call: ToolCallUpdate, wheel?: string): readonly string[] {
    const number = this.#numberOf(call)
    return this.#surfaces.chat === true
      ? callRows(call, this.#look, { number, wheel })
      : [toolRow(call, this.#look, wheel)]
  }

  #numberOf({ toolCallId }: ToolCallUpdate): number {
    const known = this.#numbers.get(toolCallId)
    if (known !== undefined) return known
    this.#numbers.set(toolCallId, this.#numbers.size + 1)
    return this.#numbers.size
  }

  #callAt(number: number): ToolCallUpdate | undefined {
    return this.#calls().find((call) => this.#numbers.get(call.toolCallId) === number)
  }

  #lastFolded(): ToolCallUpdate | undefined {
    return this.#calls().findLast((call) => isFolded(call, this.#look))
  }

  #calls(): readonly ToolCallUpdate[] {
    return this.#transcript.items.flatMap((item) => (item.kind === 'tool_call' ? [item.call] : []))
  }

  /** A repeated line is not shown again. */
  #aside(update: Update): void {
    this.#usage = usageOf(update) ?? this.#usage
    // Nobody ends a turn here that nobody began here, and another one may follow at once.
    const isEnd = update.sessionUpdate === 'session_info_update' && this.#lastEnd !== this.#knownEnd
    if (isEnd && this.#working === undefined) this.end()
    const text = asideOf(update)
    if (text === undefined || text === this.#lastAside) return
    this.#lastAside = text
    this.#endMessage()
    this.#settled.push([this.#surfaces.paint('dim', oneLine(text, this.#look.width()))])
  }

  /** The server also says who stopped a turn, which users need not read of themselves. */
  #endMark(stopReason: string): string | undefined {
    const end = this.#lastEnd
    const said = end === undefined || end === this.#knownEnd ? { stopReason } : end
    const isOurs = this.#isCancelledHere
    this.#knownEnd = end
    this.#isCancelledHere = false
    return endLine(isOurs ? { stopReason: said.stopReason } : said)
  }

  get #lastEnd(): EndItem | undefined {
    return this.#transcript.items.findLast((item) => item.kind === 'end')
  }

  #sayUsage(): void {
    if (this.#usage !== undefined && this.#surfaces.chat !== true)
      this.#settled.push([this.#surfaces.paint('dim', oneLine(this.#usage, this.#look.width()))])
    this.#usage = undefined
  }

  #plan(): void {
    if (this.#surfaces.screen.moves) this.#planShown = true
    else this.#settled.push(planRows(this.#transcript.plan, this.#look))
  }

  /** Outside a turn there is no end of a message, so a pause ends it. */
  #soon(): void {
    this.#frame ??= after(FRAME, () => this.#draw())
    this.#silence?.()
    if (this.#working === undefined) this.#silence = after(3 * SILENCE, () => this.end())
  }

  #draw(): void {
    this.#frame?.()
    this.#turn?.()
    this.#frame = undefined
    const { screen } = this.#surfaces
    screen.draw(this.#settledRows(), screen.moves ? this.#live() : [])
    if (this.#working !== undefined && screen.moves) this.#turn = after(3 * FRAME, () => this.#draw())
  }

  #live(): readonly string[] {
    const { paint } = this.#surfaces
    const wheel = WHEEL[Math.floor(now() / 100) % WHEEL.length] ?? '⠋'
    const words = this.#message?.flow.open() ?? []
    // The question about a call shows it already.
    const asked = this.#question?.toolCallId
    const calls = [...this.#running.values()].filter(({ toolCallId }) => toolCallId !== asked)
    const tools = calls.flatMap((call) => this.#callRows(call, wheel))
    const plan = this.#planShown ? planRows(this.#transcript.plan, this.#look) : []
    const question = this.#question?.rows(this.#look) ?? []
    const isStill =
      question.length === 0 && (this.#surfaces.chat === true || (this.#isSilent(words) && tools.length === 0))
    const work = isStill && this.#working !== undefined ? [paint('dim', `${wheel} ${this.#elapsed()}`)] : []
    const status = this.#status === '' ? [] : [paint('dim', oneLine(this.#status, this.#look.width()))]
    const gap = this.#settled.isApart && words.length > 0 ? [''] : []
    return [...gap, ...words, ...tools, ...plan, ...work, ...status, ...question]
  }

  /** A spinner that appears and disappears between words would only disturb. */
  #isSilent(words: readonly string[]): boolean {
    return now() - this.#heard > (words.length > 0 ? 3 * SILENCE : SILENCE)
  }

  #elapsed(): string {
    const seconds = Math.floor((now() - (this.#working?.since ?? now())) / 1000)
    const key = this.#surfaces.chat === true ? 'Esc' : 'Ctrl-C'
    return seconds < 2 ? 'working' : `working, ${seconds} s · ${key} cancels`
  }
}
