/** Shows a form to the user at the keyboard, field by field. The typed values are sent only when the user confirms. */
import type { ClientForms, FormAnswer, FormRequest } from '../../../client/incoming/client-methods.ts'
import type { Withdrawal } from '../../../client/incoming/permission-requests.ts'
import { fail } from '../../../errors/parley-error.ts'
import { type InTurn, type ListenToKeys, UNREAD_MS } from '../permission-prompt.ts'
import type { Style } from '../../output/terminal/colors.ts'
import type { Key } from '../../output/terminal/keyboard.ts'
import { now } from '../../output/terminal/pace.ts'
import { clean, oneLine } from '../../output/terminal/text.ts'
import type { View } from '../../output/view/view.ts'
import { type Field, fieldsIn } from '../../../form/fields.ts'
import { DECLINE, type Filled, type Filling, begun, isFilled, pressed } from './filling.ts'
import { MANY, choiceRows, formRows } from './form-rows.ts'

export interface FormIo {
  readonly listen: ListenToKeys
  readonly view: View
  readonly inTurn: InTurn
}

/** Letters of a server's message that are shown. */
const MAX_MESSAGE_LENGTH = 2_000

/** Columns of it in the line that stays when it is over, so that this fits on one row of a narrow terminal. */
const BRIEF = 18

/** A terminal shows what is typed and keeps it in sight. */
const WARNING = `Do not type passwords or keys here. Esc or Ctrl-C cancels; ${DECLINE} declines.`

export function formsOnKeys({ listen, view, inTurn }: FormIo): ClientForms {
  return {
    async ask(form, withdrawn) {
      const reason = 'it has a field that this client cannot ask for'
      const fields = fieldsIn(form.schema) ?? fail('PARAMS_INVALID', { method: 'elicitation/create', reason })
      return inTurn(() => askOne(form, fields, withdrawn))
    },
  }

  async function askOne(
    { message }: FormRequest,
    fields: readonly Field[],
    withdrawn: AbortSignal,
  ): Promise<FormAnswer> {
    if (withdrawn.aborted) return { action: 'cancel' }
    const said = clean(message).trim()
    view.note('asking', `? ${said.length > MAX_MESSAGE_LENGTH ? `${said.slice(0, MAX_MESSAGE_LENGTH)}…` : said}`)
    view.note('dim', WARNING)
    const filled = await byKeys(fields, oneLine(message, BRIEF), withdrawn)
    view.endQuestion(filled === undefined ? WITHDRAWN[withdrawn.reason as Withdrawal] : DONE[filled.action])
    return filled ?? { action: 'cancel' }
  }

  function byKeys(fields: readonly Field[], title: string, withdrawn: AbortSignal): Promise<Filled | undefined> {
    return new Promise((resolve) => {
      let filling = begun(fields)
      let shown = now()
      const settle = (filled: Filled | undefined): void => {
        stop()
        withdrawn.removeEventListener('abort', none)
        resolve(filled)
      }
      const none = (): void => settle(undefined)
      const press = (key: Key): void => {
        // Keys typed before the user can have read this do not count; Ctrl-C always does.
        if (now() - shown < UNREAD_MS && !key.ctrl) return
        const next = pressed(filling, key)
        if (isFilled(next)) return settle(next)
        const isNew = next.at !== filling.at
        if (isNew && isAtEnd(next)) shown = now()
        filling = next
        if (isNew) tellChoices(filling)
        view.refresh()
      }
      const stop = listen(press, 'with Ctrl-C')
      withdrawn.addEventListener('abort', none)
      tellChoices(filling)
      view.showAsked({ title, toolCallId: '', rows: (look) => formRows(filling, look) })
    })
  }

  function tellChoices({ fields, at }: Filling): void {
    const field = fields[at]
    if (field === undefined || field.choices.length <= MANY) return
    const plain = (_style: Style, text: string): string => text
    view.note('plain', choiceRows(field, { paint: plain, width: () => Number.MAX_SAFE_INTEGER }).join('\n'))
  }
}

function isAtEnd({ fields, at }: Filling): boolean {
  return at >= fields.length
}

const DONE: Readonly<Record<Filled['action'], string>> = {
  accept: 'sent',
  decline: 'declined',
  cancel: 'not answered',
}

/** Each form goes to one client. It is withdrawn when its turn is cancelled or its call is over. */
const WITHDRAWN: Readonly<Record<Withdrawal, string>> = {
  elsewhere: 'withdrawn: not needed now',
  cancelled: 'withdrawn: not needed now',
  disconnected: 'withdrawn: connection lost',
}
