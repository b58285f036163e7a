/** Two clients of one session and an agent that asks something of one of them: what tests of lent files, terminals and input begin with. */
import { beforeEach } from 'vitest'
import type { Turn } from '../../src/ports/agent.ts'
import type { Fields, Message } from '../e2e/message.ts'
import { type Street, create, openStreet, opening, prompt } from './street.ts'
import type { WireClient } from './wire-client.ts'
import { text } from './words.ts'

export const ALL = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
}
let street: Street

/** Opens a street for every test of the file that calls this. */
export function onAStreet(): { readonly street: Street } {
  beforeEach(() => {
    street = openStreet()
  })
  return {
    get street() {
      return street
    },
  }
}

/** What the agent does; what it gets or what goes wrong is said. */
export function agentDoes(act: (turn: Turn) => unknown): void {
  street.house.agent.script = async (turn) => {
    const got = await Promise.resolve(act(turn)).catch((error: unknown) => error)
    await turn.say(text(got instanceof Error ? got.message : JSON.stringify(got ?? 'nothing')))
    return 'end_turn'
  }
}

export const isAsked =
  (method: string) =>
  (message: Message): boolean =>
    message.method === method && message.id !== undefined
export const asked = (client: WireClient) =>
  client.received.filter(({ id, method }) => id !== undefined && method !== undefined).map(({ method }) => method)
export const answer = async (client: WireClient, method: string, reply: Fields): Promise<Message> => {
  const request = await client.until(isAsked(method))
  client.send({ id: request.id, ...reply })
  return request
}
export interface Company {
  readonly ada: WireClient
  readonly bob: WireClient
  readonly sessionId: string
  /** Of Ada’s prompt. */
  readonly id: number
}

/** Ada and Bob in one session, both able to do everything; Ada has sent a prompt. */
export async function inCompany(abilities: Fields = ALL): Promise<Company> {
  const ada = await street.client({ clientCapabilities: abilities })
  const bob = await street.client({ clientCapabilities: ALL })
  const sessionId = await create(ada)
  await bob.request('session/load', opening(sessionId))
  const id = ada.ask('session/prompt', prompt(sessionId, 'Go', 'p1'))
  return { ada, bob, sessionId, id }
}
