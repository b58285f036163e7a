/** `parley run "PROMPT"`: one prompt, its answer as it streams, and an exit code that says how it ended. */
import type { Client, Face } from '../../client/connect.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { fail } from '../../errors/parley-error.ts'
import { askOnKeys, refuse } from '../asking.ts'
import type { CommandInput } from '../command.ts'
import { exitOfStop } from '../exit.ts'
import { printJson } from '../json.ts'
import { cwdOf, findSession, shortId } from '../opening.ts'
import { textOption } from '../options.ts'
import type { Stops } from '../stops.ts'
import { isTerminal, surfacesFor } from '../surfaces.ts'
import { type Key, listenToKeys } from '../terminal/keyboard.ts'
import { playTurn } from '../turn.ts'
import { View } from '../view/view.ts'
import { workWith } from '../working.ts'

type Options = CommandInput['options']

export async function run({ args, options }: CommandInput): Promise<number> {
  const [prompt = ''] = args
  if (prompt.trim() === '')
    fail('CONFIG_INVALID', { key: 'PROMPT', value: JSON.stringify(prompt), reason: 'it says nothing' })
  const config = await loadConfig({ agent: textOption(options, 'agent') })
  return options['json'] === true ? runJson(config, options, prompt) : runText(config, options, prompt)
}

/** Every update as it came, then how the turn ended. */
function runJson(config: Config, options: Options, prompt: string): Promise<number> {
  const face: Face = { updated: printJson, ask: refuse(say) }
  return workWith(config, face, async ({ client, stops }) => {
    const sessionId = await sessionFor(client, options)
    stops.onInterrupt(() => client.cancel(sessionId))
    const result = await client.prompt(sessionId, prompt)
    printJson(result)
    return exitOfStop(result.stopReason)
  })
}

function runText(config: Config, options: Options, prompt: string): Promise<number> {
  const surfaces = surfacesFor(config)
  const view = new View(surfaces)
  let stops: Stops | undefined
  const keys = (pressed: (key: Key) => void) =>
    listenToKeys(process.stdin, (key) => (key.ctrl && key.name === 'c' ? stops?.interrupt() : pressed(key)))
  const canAsk = isTerminal(process.stdin, config) && surfaces.screen.moves
  const ask = canAsk ? askOnKeys(keys, view) : refuse((line) => view.note('plain', line))
  // A session that is resumed tells of itself before the turn begins; only the turn is shown.
  return workWith(config, { updated: ({ update }) => view.update(update), ask }, async (working) => {
    stops = working.stops
    const { client } = working
    const sessionId = await sessionFor(client, options)
    stops.onInterrupt(() => client.cancel(sessionId))
    const code = await playTurn({ client, sessionId, view }, prompt)
    if (surfaces.screen.moves) view.note('dim', `session ${shortId(sessionId)}`)
    return code
  })
}

async function sessionFor(client: Client, options: Options): Promise<string> {
  const id = textOption(options, 'session')
  if (id === undefined) return client.newSession(cwdOf(options))
  const session = await findSession(client, id)
  await client.resumeSession(session)
  return session.sessionId
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
