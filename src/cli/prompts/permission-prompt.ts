/** Permission questions: asked at the keyboard, or rejected where there is no terminal. */
import { SerialQueue } from '../../async/serial.ts'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import type { PermissionQuestion, Withdrawal } from '../../client/incoming/permission-requests.ts'
import type { PermissionOption } from '../../client/incoming/updates.ts'
import type { SessionPresence } from '../sessions/session-presence.ts'
import type { Key } from '../output/terminal/keyboard.ts'
import { now } from '../output/terminal/pace.ts'
import { oneLine } from '../output/terminal/text.ts'
import { numbersOf, questionTitle } from '../output/view/rows.ts'
import type { View } from '../output/view/view.ts'

/** Calls `pressed` with every key until the returned function is called; Ctrl-C stops the turn, unless it is wanted too. */
export type ListenToKeys = (pressed: (key: Key) => void, ctrlC?: 'with Ctrl-C') => () => void

/** Keys within this time of a question were typed before the user read it. */
export const UNREAD_MS = 400

export type InTurn = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>

/** One question at a time; the next one waits for this one's answer. */
export function oneByOne(): InTurn {
  const queue = new SerialQueue()
  return (ask) => queue.run(ask)
}

/** The number of an option is its answer; no other key is. */
export function askOnKeys(listen: ListenToKeys, view: View, inTurn: InTurn) {
  return (question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> =>
    inTurn(() => askOne(question, withdrawn))

  async function askOne(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    if (withdrawn.aborted) return null
    view.showQuestion(question)
    const chosen = await chosenKey(question, withdrawn)
    view.endQuestion(chosen?.name ?? WITHDRAWN[withdrawn.reason as Withdrawal])
    return chosen?.optionId ?? null
  }

  function chosenKey(question: PermissionQuestion, withdrawn: AbortSignal): Promise<PermissionOption | undefined> {
    return new Promise((resolve) => {
      const settle = (option: PermissionOption | undefined): void => {
        stop()
        withdrawn.removeEventListener('abort', none)
        resolve(option)
      }
      const none = (): void => settle(undefined)
      const shown = now()
      const stop = listen(({ text, name }) => {
        // A user who was typing a moment ago has not read the question yet.
        if (now() - shown < UNREAD_MS) return
        const option = /^[1-9]$/u.test(text) && name !== 'paste' ? question.options[Number(text) - 1] : undefined
        if (option !== undefined) settle(option)
        else
          view.showQuestion(
            question,
            `Only ${numbersOf(question)} answer${question.options.length > 1 ? '' : 's'} this.`,
          )
      })
      withdrawn.addEventListener('abort', none)
    })
  }
}

/** Questions of other clients' turns are left to those clients. */
export function ofOurs(company: SessionPresence, ask: ClientDelegate['ask']): ClientDelegate['ask'] {
  return (question, withdrawn) => (company.ours ? ask(question, withdrawn) : new Promise(() => undefined))
}

/** The text that replaces a withdrawn question; none for a question that the server will ask again. */
const WITHDRAWN: Readonly<Record<Withdrawal, string | null>> = {
  elsewhere: 'answered elsewhere',
  cancelled: 'not answered',
  disconnected: null,
}

/** Without a terminal there is no user to allow it, so the call is rejected with a line that says so. */
export function rejectWithoutTerminal(say: (line: string) => void) {
  return ({ toolCall, options }: PermissionQuestion): Promise<string | null> => {
    const no =
      options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always')
    say(
      `Rejected: ${oneLine(questionTitle(toolCall))} (there is no terminal to ask on; parley rules add allows it beforehand)`,
    )
    return Promise.resolve(no?.optionId ?? null)
  }
}
