/** The questions that a chat asks with keys, one after the other: permissions, forms, pages to visit and choices. */
import type { ClientForms, ClientPages } from '../../client/incoming/client-methods.ts'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import type { View } from '../output/view/view.ts'
import { formsOnKeys } from '../prompts/form/ask.ts'
import { type ListenToKeys, askOnKeys, oneByOne } from '../prompts/permission-prompt.ts'
import { pagesFor } from '../prompts/visit-page.ts'
import { type ChoiceList, choosingOnKeys } from './choosing.ts'

export interface ChatQuestionsOptions {
  /** A question takes the keyboard; the text that the user was typing stays for later. */
  readonly listen: ListenToKeys
  readonly view: View
  /** Questions of the session wait until the beginning of the chat is shown. */
  readonly greeted: Promise<void>
  readonly environment: Readonly<Record<string, string | undefined>>
}

export class ChatQuestions {
  readonly pages: ClientPages
  readonly forms: ClientForms
  readonly #greeted: Promise<void>
  readonly #askPermission: ReturnType<typeof askOnKeys>
  readonly #choose: ReturnType<typeof choosingOnKeys>

  constructor({ listen, view, greeted, environment }: ChatQuestionsOptions) {
    const inTurn = oneByOne()
    const forms = formsOnKeys({ listen, view, inTurn })
    this.#greeted = greeted
    this.#askPermission = askOnKeys(listen, view, inTurn)
    this.#choose = choosingOnKeys(listen, view, inTurn)
    this.forms = { ask: (form, withdrawn) => greeted.then(() => forms.ask(form, withdrawn)) }
    this.pages = pagesFor({
      ask: (question, withdrawn) => this.ask(question, withdrawn),
      note: (style, text) => view.note(style, text),
      environment,
    })
  }

  async ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    await this.#greeted
    return withdrawn.aborted ? null : this.#askPermission(question, withdrawn)
  }

  /** Undefined when the user leaves the list. */
  choose(list: ChoiceList): Promise<string | undefined> {
    return this.#choose(list)
  }
}
