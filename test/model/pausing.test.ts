/** Calls of the model agent whose servers want input before they go on: who gives it, and what a kill leaves of them. */
import { describe, expect, test } from 'vitest'
import type { ToolInputResponse, ToolInputRequest } from '../../src/ports/tools.ts'
import { decodeEntry } from '../../src/session/domain/entries.ts'
import type { Message } from '../e2e/message.ts'
import { House } from '../sim/house.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../sim/street.ts'
import type { WireClient } from '../sim/wire-client.ts'
import { houseWith, inhabited, story, until } from './given.ts'
import { calls, type PuppetModel, says } from './puppet-model.ts'

cleanUp()

const able = { clientCapabilities: { elicitation: { form: {}, url: {} } } }
const isAsked = ({ method }: Message) => method === 'elicitation/create'
const question = (message: string) =>
  ({ mode: 'form', server: 's', message, schema: { properties: { name: { type: 'string' } } } }) as const

interface Ways {
  /** What the tools do whose names are not those of paused ones. */
  readonly hangs?: boolean
  readonly builtin?: boolean
}

/** `a` and `b` want a name before they go on, as a registry has it; `c` does not. */
function furnished(
  house: House,
  { hangs = false, builtin = true }: Ways = {},
): readonly (readonly [string, ToolInputResponse])[] {
  const given: (readonly [string, ToolInputResponse])[] = []
  for (const name of ['a', 'b'])
    house.tools.add(
      name,
      async (_args, { onInputRequired: onPause, resumeFrom: goesOn }) => {
        const pause: ToolInputRequest = goesOn ?? { questions: { who: question(name) }, state: { of: name } }
        const input = (await onPause?.(pause)) ?? {}
        given.push([name, input])
        return { content: [{ type: 'text', text: `${name} has it` }], isError: false }
      },
      { builtin, readOnly: true },
    )
  const never = new Promise<never>(() => undefined)
  const done = { content: [{ type: 'text', text: 'c is done' }], isError: false } as const
  house.tools.add('c', async () => (hangs ? never : done), { builtin, readOnly: true })
  return given
}

/** The next owner, who has nothing but the disk. */
async function killed({ disk }: House, model: PuppetModel, ways?: Ways) {
  const house = inhabited(new House(disk), model)
  const given = furnished(house, ways)
  await house.sessions.recover()
  return { house, given, street: openStreet(house) }
}

async function kindsIn({ disk }: House, sessionId: string): Promise<readonly string[]> {
  const page = await disk.page(sessionId, 0, { entries: 1_000, chars: 1_000_000 })
  return page.map((stored) => decodeEntry(stored).kind)
}

async function answerOf(client: WireClient, message: string, name: string): Promise<void> {
  const { id } = await client.until((one) => isAsked(one) && one.params?.['message'] === `s: ${message}`)
  client.send({ id, result: { action: 'accept', content: { name } } })
}

describe('calls that wait for input', () => {
  test('side by side outlive a kill together; the model hears of every one of them once', async () => {
    const { house, model } = houseWith([
      calls({ id: '1', name: 'a' }, { id: '2', name: 'b' }, { id: '3', name: 'c' }),
      says('Good.'),
    ])
    furnished(house)
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await until(() => ada.received.filter(isAsked).length === 2 && house.tools.called.length === 3)
    await until(() => JSON.stringify(ada.received).includes('c is done'))
    const next = await killed(house, model)
    const bob = await next.street.client(able)
    await bob.request('session/load', opening(sessionId))
    await answerOf(bob, 'b', 'Bob')
    await answerOf(bob, 'a', 'Ada')
    await until(() => bob.text === 'Good.')
    expect(next.given).toEqual([
      ['b', { who: { action: 'accept', content: { name: 'Bob' } } }],
      ['a', { who: { action: 'accept', content: { name: 'Ada' } } }],
    ])
    expect(next.house.tools.called.toSorted()).toEqual(['a', 'b'])
    expect(story(model.requests[1]?.messages ?? []).slice(-3)).toEqual([
      'result 1: a has it',
      'result 2: b has it',
      'result 3: c is done',
    ])
    await until(async () => (await kindsIn(house, sessionId)).includes('turn_ended'))
    const kinds = await kindsIn(house, sessionId)
    expect(kinds.filter((kind) => kind === 'tool_input_requested' || kind === 'tool_input_resolved')).toHaveLength(4)
    expect(kinds.filter((kind) => kind === 'turn_ended')).toHaveLength(1)
  })

  test('beside one that runs are cut with it: it may have run', async () => {
    const { house, model } = houseWith([calls({ id: '1', name: 'a' }, { id: '2', name: 'c' })])
    furnished(house, { hangs: true })
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await ada.until(isAsked)
    await until(() => house.tools.called.length === 2)
    const next = await killed(house, model)
    const bob = await next.street.client(able)
    await bob.request('session/load', opening(sessionId))
    expect(JSON.stringify(bob.updates)).toContain('Interrupted; it may have run.')
    expect(bob.received.filter(isAsked)).toEqual([])
    expect((await kindsIn(house, sessionId)).at(-1)).toBe('turn_ended')
  })

  test('beside a question of permission go on when that is answered', async () => {
    const { house, model } = houseWith([calls({ id: '1', name: 'a' }, { id: '2', name: 'c' }), says('Good.')])
    furnished(house, { builtin: false })
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    const isQuestion = ({ method }: Message) => method === 'session/request_permission'
    const allowed = { outcome: { outcome: 'selected', optionId: 'allow_once' } }
    ada.send({ id: (await ada.until(isQuestion)).id, result: allowed })
    await ada.until(isAsked)
    await until(() => ada.received.filter(isQuestion).length === 2)
    const next = await killed(house, model, { builtin: false })
    const bob = await next.street.client(able)
    await bob.request('session/load', opening(sessionId))
    const { id } = await bob.until(isQuestion)
    expect(bob.received.filter(isAsked)).toEqual([])
    bob.send({ id, result: allowed })
    await answerOf(bob, 'a', 'Ada')
    await until(() => bob.text === 'Good.')
    expect(next.house.tools.called.toSorted()).toEqual(['a', 'c'])
  })

  test('wait in the journal while no client is there, until one comes that can be asked', async () => {
    const { house, model } = houseWith([calls({ id: '1', name: 'a' }), says('Good.')])
    furnished(house)
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await ada.until(isAsked)
    await ada.leave()
    await house.clock.advance(120_000)
    await until(() => house.tools.running === 0)
    expect((await kindsIn(house, sessionId)).at(-1)).toBe('turn_suspended')
    const street = openStreet(house)
    const blind = await street.client()
    await blind.request('session/load', opening(sessionId))
    expect((await kindsIn(house, sessionId)).at(-1)).toBe('turn_suspended')
    const bob = await street.client(able)
    await bob.request('session/load', opening(sessionId))
    await answerOf(bob, 'a', 'Bob')
    await until(() => blind.text === 'Good.')
    expect(model.requests).toHaveLength(2)
  })

  test('are declined in words where the client of the prompt is there and offers nothing of the kind', async () => {
    const { house } = houseWith([calls({ id: '1', name: 'a' }), says('Good.')])
    const given = furnished(house)
    const street = openStreet(house)
    const ada = await street.client()
    const sessionId = await create(ada)
    const bob = await street.client(able)
    await bob.request('session/load', opening(sessionId))
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await until(() => ada.text === 'Good.')
    expect(given).toEqual([['a', { who: { action: 'decline' } }]])
    expect(bob.received.filter(isAsked)).toEqual([])
  })

  test('are cancelled with their turn, and what was asked is taken back', async () => {
    const { house } = houseWith([calls({ id: '1', name: 'a' })])
    const given = furnished(house)
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    const id = ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await ada.until(isAsked)
    ada.notify('session/cancel', { sessionId })
    expect((await ada.answerTo(id)).result).toMatchObject({ stopReason: 'cancelled' })
    expect(given).toEqual([])
    expect(ada.received.some(({ method }) => method === '$/cancel_request')).toBe(true)
    expect(await kindsIn(house, sessionId)).not.toContain('tool_input_resolved')
  })

  test('leave nothing of what was answered in the journal', async () => {
    const { house } = houseWith([calls({ id: '1', name: 'a' }), says('Good.')])
    furnished(house)
    const ada = await openStreet(house).client(able)
    const sessionId = await create(ada)
    ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await answerOf(ada, 'a', 'Rumpelstiltskin')
    await until(() => ada.text === 'Good.')
    const page = await house.disk.page(sessionId, 0, { entries: 1_000, chars: 1_000_000 })
    expect(page.map(({ body }) => body).join('')).not.toContain('Rumpelstiltskin')
  })
})
