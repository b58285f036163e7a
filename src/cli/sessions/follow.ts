/** Prints a session and follows it, through every restart of the server. */
import type { ConnectionEvent, ClientDelegate } from '../../client/client-delegate.ts'
import type { Notice } from '../../client/incoming/notices.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import { Updates, pastOf } from '../chat/chat.ts'
import type { CommandInput } from '../runtime/command.ts'
import { SessionPresence, complainOfSilence } from './session-presence.ts'
import { OK, TRY_AGAIN } from '../runtime/exit-codes.ts'
import { printJson } from '../output/json.ts'
import { sessionToJoin } from './session-resolution.ts'
import type { ConnectOptions } from '../connect/connect.ts'
import { paintOn } from '../output/terminal-io.ts'
import { plainScreen } from '../output/terminal/screen.ts'
import { transcriptRows } from '../output/view/transcript-rows.ts'
import { View } from '../output/view/view.ts'
import { noDisplay, workWith } from '../connect/with-client.ts'
import { complain } from '../say.ts'

type Options = CommandInput['options']

/** Resolves at a stop signal, when the session is closed or deleted, and when the server is stopped. */
export function followSession(reaching: ConnectOptions, options: Options): Promise<number> {
  const following: ConnectOptions = { ...reaching, notices: ['turn'], doing: 'attach' }
  return options['json'] === true ? followJson(following, options) : followText({ ...following, places: true }, options)
}

function followJson(reaching: ConnectOptions, options: Options): Promise<number> {
  const end = new End()
  const face: ClientDelegate = {
    ...noDisplay,
    updated: printJson,
    noticed: (notice) => end.noticed(notice),
    connection: (event) => end.connection(event),
  }
  return workWith(reaching, face, async ({ client, stops }) => {
    await client.loadSession(await sessionToJoin(client, options))
    return end.code(stops.signal)
  })
}

function followText(reaching: ConnectOptions, options: Options): Promise<number> {
  const end = new End()
  const company = new SessionPresence()
  const updates = new Updates()
  const page = onePage((text) => process.stdout.write(text))
  const paint = paintOn(process.stdout, reaching.config)
  const view = new View({ screen: page.screen, paint, answer: (text) => page.write(text) })
  const face: ClientDelegate = {
    ...noDisplay,
    updated: ({ update }) => updates.take(update),
    noticed(notice) {
      const wasBusy = company.busy
      company.take(notice)
      if (wasBusy && !company.busy) view.end()
      end.noticed(notice)
    },
    connection(event) {
      company.connection(event)
      end.connection(event)
    },
  }
  return workWith(reaching, face, async ({ client, stops }) => {
    await client.loadSession(await sessionToJoin(client, options))
    await company.known(client)
    const { before, current } = pastOf(
      updates.goLive((update) => view.update(update)),
      company.busy,
    )
    page.screen.draw([...transcriptRows(before, { paint, width: page.screen.width }), ''], [])
    view.recall(before)
    for (const update of current) view.update(update)
    const code = await end.code(stops.signal)
    view.end()
    return code
  })
}

/** Prints streamed text and settled rows in order, with one empty line between the two. */
function onePage(print: (text: string) => void) {
  // As if an empty line stood above the first.
  let newlines = 2
  let last: 'words' | 'rows' | undefined
  const write = (kind: 'words' | 'rows', text: string): void => {
    const rest = text.replace(/^\n+/u, '')
    const wanted = last === undefined || last === kind ? text.length - rest.length : 2
    const led = '\n'.repeat(Math.min(wanted, Math.max(0, 2 - newlines)))
    newlines = rest === '' ? newlines + led.length : rest.length - rest.replace(/\n+$/u, '').length
    last = rest === '' ? last : kind
    print(led + rest)
  }
  return { write: (text: string) => write('words', text), screen: plainScreen((rows) => write('rows', rows)) }
}

/** The end of the output: the reason, and the exit code for it. */
class End {
  #settle: (code: number) => void = () => undefined
  readonly #settled = new Promise<number>((resolve) => (this.#settle = resolve))

  noticed(notice: Notice): void {
    if (notice.kind === 'turn' && (notice.phase === 'closed' || notice.phase === 'deleted')) this.#settle(OK)
  }

  connection(event: ConnectionEvent): void {
    complainOfSilence(event)
    if (event.kind === 'stopped') this.#fail('The server was stopped.')
    if (event.kind === 'lost' || event.kind === 'detached') this.#fail(reasonOf(event.reason))
  }

  /** Ctrl-C is the normal end of following, not a cancellation. */
  code(stopped: AbortSignal): Promise<number> {
    stopped.addEventListener('abort', () => this.#settle(OK))
    if (stopped.aborted) this.#settle(OK)
    return this.#settled
  }

  #fail(reason: string): void {
    complain(reason)
    this.#settle(TRY_AGAIN)
  }
}
