import { expect, test } from 'vitest'
import type { SessionPage } from '../../client/sessions/stored-sessions.ts'
import { Conversation, messageText } from './conversation.ts'
import { History } from './history.ts'

/** A session of one long message, one chunk an entry. Pages of it come one after the other, when they are let go. */
class LongSession {
  readonly talk = new Conversation()
  readonly history = new History({
    page: (before, limit) => this.#page(before, limit),
    prepend: (pages) => this.talk.prepend({ updates: pages.flatMap(({ updates }) => updates), resolved: [] }),
  })
  asked = 0
  isBroken = false

  get text(): string {
    return this.talk.items.map((item) => (item.kind === 'message' ? messageText(item) : '')).join('')
  }

  async #page(before: number, limit: number): Promise<SessionPage> {
    this.asked += 1
    await new Promise((resolve) => setImmediate(resolve))
    if (this.isBroken) throw new Error('It is broken.')
    const from = Math.max(1, before - limit)
    const updates = Array.from({ length: before - from }, (_one, n) => chunk(from + n))
    return { updates, resolved: [], from, more: from > 1 }
  }
}

function chunk(seq: number): SessionPage['updates'][number] {
  const content = { type: 'text', text: `${seq},` }
  return { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', messageId: 'm', content } }
}

const counted = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_one, n) => `${from + n},`).join('')

test('requests for the same page while it loads get each entry once', async () => {
  const { history, self } = await begun()
  history.older()
  await Promise.all([history.reach(500), history.reach(500), history.reach(300)])
  expect(self.text).toBe(counted(201, 2_000))
  expect(history.reaches(300)).toBe(true)
  expect(history.isLoading.value).toBe(false)
})

test('a page that fails to load is not requested again by the waiting callers', async () => {
  const { history, self } = await begun()
  const { asked, text } = self
  self.isBroken = true
  await Promise.all([history.reach(500), history.reach(300)])
  expect([self.asked - asked, history.trouble.value, self.text]).toEqual([1, 'It is broken.', text])
  self.isBroken = false
  await history.reach(0)
  expect([history.trouble.value, self.text]).toEqual(['', counted(1, 2_000)])
})

async function begun(): Promise<{ readonly self: LongSession; readonly history: History }> {
  const self = new LongSession()
  await self.history.begin(2_000, Number.POSITIVE_INFINITY)
  return { self, history: self.history }
}
