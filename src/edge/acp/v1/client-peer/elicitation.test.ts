/**
 * Forms and pages are sent only to the client whose prompt runs. They never count as accepted unless the user accepted,
 * and are never stored.
 */
import { describe, expect, test } from 'vitest'
import type { Turn } from '../../../../ports/agent.ts'
import type { Fields, Message } from '../../../../../test/e2e/message.ts'
import { agentDoes, answer, asked, inCompany, isAsked, onAStreet } from '../../../../../test/sim/company.ts'
import { cleanUp } from '../../../../../test/sim/street.ts'

cleanUp()
const scene = onAStreet()

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const FORM = { message: 'Who are you?', schema: SCHEMA }

describe('input', () => {
  const form = (turn: Turn) => turn.client.elicit?.form?.(FORM)

  test('by a form goes to one client, and its values are checked against the form', async () => {
    agentDoes(form)
    const { ada, bob, id } = await inCompany()
    const request = await answer(ada, 'elicitation/create', {
      result: { action: 'accept', content: { name: 'Ada', x: 1 } },
    })
    await ada.answerTo(id)
    expect(request.params).toMatchObject({ mode: 'form', message: 'Who are you?', requestedSchema: SCHEMA })
    expect(ada.text).toBe('{"action":"accept","content":{"name":"Ada"}}')
    expect(asked(bob)).toEqual([])
  })

  test.each<readonly [reply: Fields, says: string]>([
    [{ result: { action: 'decline' } }, '"decline"'],
    [{ result: { action: 'cancel' } }, '"cancel"'],
    [{ result: { action: '_later' } }, '"cancel"'],
    [{ result: { action: 'accept', content: { name: 5 } } }, '“name” is not a text'],
    [{ result: { action: 'accept' } }, '“name” is missing'],
    [{ result: null }, 'is invalid'],
    [{ error: { code: -32601, message: 'Method not found' } }, 'Method not found'],
  ])('answered with %j is never taken for an acceptance', async (reply, says) => {
    agentDoes(form)
    const { ada, id } = await inCompany()
    await answer(ada, 'elicitation/create', reply)
    await ada.answerTo(id)
    expect(ada.text).toContain(says)
    expect(ada.text).not.toContain('accept')
  })

  test('is stored in the journal as a request and its outcome, without the values', async () => {
    scene.street.house.agent.script = async (turn) => {
      await form(turn)
      return 'end_turn'
    }
    const { ada, sessionId, id } = await inCompany()
    await answer(ada, 'elicitation/create', { result: { action: 'accept', content: { name: 'Ada Lovelace' } } })
    await ada.answerTo(id)
    const entries = await scene.street.house.disk.entries(sessionId)
    const told = entries.filter(({ kind }) => kind.startsWith('elicitation'))
    expect(told).toMatchObject([
      { kind: 'elicitation_requested', mode: 'form' },
      { kind: 'elicitation_resolved', outcome: 'accept' },
    ])
    expect(JSON.stringify(entries)).not.toMatch(/Lovelace|Who are you/u)
  })

  test('by a page: only the client that was asked gets elicitation/complete, and no answer is stored', async () => {
    agentDoes(async (turn) => {
      const page = { message: 'Sign in', url: 'https://example.com/sign-in' }
      const first = await turn.client.elicit?.url?.(page)
      const second = await turn.client.elicit?.url?.(page)
      first?.complete()
      first?.complete()
      second?.complete()
      return first?.action
    })
    const { ada, bob, id } = await inCompany()
    const sneaky = { action: 'accept', content: { token: 'sentinel' } }
    const first = await answer(ada, 'elicitation/create', { result: sneaky })
    const isSecond = (message: Message) => isAsked('elicitation/create')(message) && message !== first
    const second = await ada.until(isSecond)
    ada.send({ id: second.id, result: { action: 'decline' } })
    await ada.answerTo(id)
    const elicitationId = first.params?.['elicitationId']
    expect(second.params?.['elicitationId']).not.toBe(elicitationId)
    expect(ada.all('elicitation/complete')).toEqual([{ elicitationId }])
    expect(JSON.stringify([...ada.received, ...bob.received])).not.toContain('sentinel')
    expect(bob.all('elicitation/complete')).toEqual([])
  })

  test.each(['http://example.com', 'https://ada:secret@example.com', 'javascript:alert(1)', 'example.com', 'https://'])(
    'sends no user to %s',
    async (url) => {
      agentDoes((turn) => turn.client.elicit?.url?.({ message: 'Go', url }))
      const { ada, id } = await inCompany()
      await ada.answerTo(id)
      expect(ada.text).toContain('The user was not asked')
      expect(asked(ada)).toEqual([])
    },
  )
})
