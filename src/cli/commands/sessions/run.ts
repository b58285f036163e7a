/** `parley run "PROMPT"`: one prompt, its answer as it streams, and an exit code that says how it ended. */
import type { Client } from '../../../client/client.ts'
import type { ClientDelegate } from '../../../client/client-delegate.ts'
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import {
  type ListenToKeys,
  askOnKeys,
  ofOurs,
  oneByOne,
  rejectWithoutTerminal,
} from '../../prompts/permission-prompt.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { SessionPresence, companyNotices, complainOfSilence, connectionWords } from '../../sessions/session-presence.ts'
import { exitOfStop } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { formsOnKeys } from '../../prompts/form/ask.ts'
import { cwdOf, findSession, shortId } from '../../sessions/session-resolution.ts'
import { textOption, textsOption } from '../../runtime/options.ts'
import { pagesFor } from '../../prompts/visit-page.ts'
import type { ConnectOptions } from '../../connect/connect.ts'
import type { Stops } from '../../runtime/shutdown-signals.ts'
import { isTerminal, surfacesFor } from '../../output/terminal-io.ts'
import { isCtrlC, listenToKeys } from '../../output/terminal/keyboard.ts'
import { playTurn } from '../../sessions/turn.ts'
import { View } from '../../output/view/view.ts'
import { type ConnectedCommand, workWith } from '../../connect/with-client.ts'

type Options = CommandInput['options']

export async function run({ args, options }: CommandInput): Promise<number> {
  const [prompt = ''] = args
  if (prompt.trim() === '')
    fail('CONFIG_INVALID', { key: 'PROMPT', value: JSON.stringify(prompt), reason: 'a prompt needs at least one word' })
  const config = await configFor({ agent: textOption(options, 'agent'), model: textOption(options, 'model') })
  const agentCommand = textOption(options, 'agentCommand')
  const embedded = options['embedded'] === true
  const reaching: ConnectOptions = { config, embedded, notices: companyNotices, agentCommand, doing: 'run' }
  return options['json'] === true ? runJson(reaching, options, prompt) : runText(reaching, options, prompt)
}

/** Every update as it came, then how the turn ended. */
function runJson(reaching: ConnectOptions, options: Options, prompt: string): Promise<number> {
  const company = new SessionPresence()
  const face = onlyOurs(company, {
    updated: printJson,
    ask: rejectWithoutTerminal(say),
    connection: complainOfSilence,
  })
  return workWith(reaching, face, async (working) => {
    const sessionId = await sessionFor(working, company, options)
    const result = await working.client.prompt(sessionId, prompt)
    printJson(result)
    return exitOfStop(result.stopReason)
  })
}

function runText(reaching: ConnectOptions, options: Options, prompt: string): Promise<number> {
  const { config } = reaching
  const company = new SessionPresence()
  const surfaces = surfacesFor(config)
  const view = new View(surfaces)
  let stops: Stops | undefined
  const listen: ListenToKeys = (pressed, ctrlC) =>
    listenToKeys(process.stdin, (key) => (isCtrlC(key) && !ctrlC ? stops?.interrupt() : pressed(key)))
  const inTurn = oneByOne()
  const canAsk = isTerminal(process.stdin, config) && surfaces.screen.moves
  const ask = canAsk ? askOnKeys(listen, view, inTurn) : rejectWithoutTerminal((line) => view.note('plain', line))
  const face = onlyOurs(company, {
    updated: ({ update }) => view.update(update),
    cancelling: () => view.cancelling(),
    ask,
    connection(event) {
      view.showStatus(connectionWords[event.kind] ?? '')
      if (!surfaces.screen.moves) complainOfSilence(event)
    },
  })
  const note: View['note'] = (style, text) => view.note(style, text)
  // The server asks one client at a time, also for turns of others, so an unanswered page would block them.
  const pages = canAsk ? pagesFor({ ask, note, environment: config.environment }) : undefined
  const forms = canAsk ? formsOnKeys({ listen, view, inTurn }) : undefined
  return workWith({ ...reaching, places: true, pages, forms }, face, async (working) => {
    stops = working.stops
    const { client } = working
    const sessionId = await sessionFor(working, company, options)
    const code = await playTurn({ client, sessionId, view }, prompt)
    if (surfaces.screen.moves) view.note('dim', `session ${shortId(sessionId)}`)
    return code
  })
}

/** Hides the turns and questions of other clients in the same session. */
function onlyOurs(company: SessionPresence, face: ClientDelegate): ClientDelegate {
  return {
    ...face,
    noticed: (notice) => company.take(notice),
    connection: (event) => {
      company.connection(event)
      face.connection?.(event)
    },
    updated: (params) => {
      if (company.ours) face.updated(params)
    },
    ask: ofOurs(company, (question, withdrawn) => face.ask(question, withdrawn)),
  }
}

async function sessionFor(
  { client, stops }: ConnectedCommand,
  company: SessionPresence,
  options: Options,
): Promise<string> {
  const wishes = textsOption(options, 'option').map(wishIn)
  const sessionId = await openedFor(client, options)
  for (const { id, value } of wishes) await client.set(sessionId, id, value)
  await company.known(client)
  if (company.busy) say(whyItWaits(company, sessionId))
  stops.onInterrupt(() => client.cancel(sessionId))
  return sessionId
}

/** `model=large`. */
function wishIn(text: string): { readonly id: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at < 1) fail('CONFIG_INVALID', { key: '--option', value: text, reason: 'it must be NAME=VALUE' })
  return { id: text.slice(0, at), value: text.slice(at + 1) }
}

function whyItWaits({ waits }: SessionPresence, sessionId: string): string {
  if (!waits) return 'Another turn runs in this session; this prompt waits for its end.'
  return `This session waits for an answer to its question. Give one with: parley attach ${shortId(sessionId)}`
}

/** A resumed session sends its state before the turn begins; only the turn is shown. */
async function openedFor(client: Client, options: Options): Promise<string> {
  const id = textOption(options, 'session')
  if (id === undefined) return client.newSession(cwdOf(options))
  const session = client.can.list ? await findSession(client, id) : { sessionId: id, cwd: cwdOf(options) }
  // An agent that cannot resume sends the whole conversation again.
  if (client.can.resume) await client.resumeSession(session)
  else await client.loadSession(session)
  return session.sessionId
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
