/** A chat without a terminal: one prompt per line of stdin, answered in order. */
import { createInterface } from 'node:readline'
import type { Client } from '../../client/client.ts'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import { emptyTranscript, withUpdates } from '../../client/transcript/transcript.ts'
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { ofOurs, rejectWithoutTerminal } from '../prompts/permission-prompt.ts'
import type { CommandInput } from '../runtime/command.ts'
import { SessionPresence, companyNotices, complainOfSilence } from '../sessions/session-presence.ts'
import { TURN_CANCELLED, OK, exitOfError, worse } from '../runtime/exit-codes.ts'
import type { ConnectOptions } from '../connect/connect.ts'
import { surfacesFor } from '../output/terminal-io.ts'
import { type TurnOf, playTurn } from '../sessions/turn.ts'
import { View } from '../output/view/view.ts'
import { workWith } from '../connect/with-client.ts'
import { Updates, openChat } from './chat.ts'
import { complain } from '../say.ts'

const NO_PROMPT = { key: 'PROMPT', value: '""', reason: 'standard input has no line with a word' }

/** Resolves with the worst exit code of all its turns. Throws CONFIG_INVALID if there is no prompt. */
export function chatFromLines(reaching: ConnectOptions, options: CommandInput['options']): Promise<number> {
  const view = new View(surfacesFor(reaching.config))
  const updates = new Updates()
  const company = new SessionPresence()
  const face: ClientDelegate = {
    updated: ({ update }) => updates.take(update),
    cancelling: () => view.cancelling(),
    noticed: (notice) => company.take(notice),
    connection(event) {
      company.connection(event)
      complainOfSilence(event)
    },
    ask: ofOurs(
      company,
      rejectWithoutTerminal((line) => view.note('plain', line)),
    ),
  }
  const open = async (client: Client): Promise<TurnOf> => {
    const { sessionId } = await openChat(client, options)
    await company.known(client)
    const past = updates.goLive((update) => {
      if (company.ours) view.update(update)
    })
    view.recall(withUpdates(emptyTranscript, past))
    return { client, sessionId, view }
  }
  return workWith(
    { ...reaching, notices: companyNotices, places: true, doing: 'chat' },
    face,
    async ({ client, stops }) => {
      const lines = createInterface({ input: process.stdin, crlfDelay: Infinity, signal: stops.signal })
      let worst = OK
      let turn: TurnOf | undefined
      for await (const line of lines) {
        if (line.trim() === '') continue
        // Standard input without a prompt leaves no session behind.
        turn ??= await open(client)
        const { sessionId } = turn
        stops.onInterrupt(() => client.cancel(sessionId))
        const code = await answer(turn, line)
        stops.onInterrupt(undefined)
        worst = worse(worst, code)
        // After Ctrl-C the remaining lines are not sent.
        if (code === TURN_CANCELLED) break
      }
      lines.close()
      if (stops.signal.aborted) return stops.signal.reason as number
      return turn === undefined ? fail('CONFIG_INVALID', NO_PROMPT) : worst
    },
  )
}

/** A failed turn is reported, and the next line is sent all the same. */
async function answer(turn: TurnOf, line: string): Promise<number> {
  try {
    return await playTurn(turn, line)
  } catch (error) {
    if (!isParleyError(error, 'PEER_REFUSED')) throw error
    complain(reasonOf(error))
    return exitOfError(error)
  }
}
