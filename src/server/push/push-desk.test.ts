/** Which device gets which notification, with real credentials, their files, and a push service on this machine. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { ScriptedPushService } from '../../../test/page/push-service.ts'
import { TestClock } from '../../../test/sim/clock.ts'
import { Credentials, type KeyRing } from '../../credentials/key-ring.ts'
import type { SessionChange, SessionSummary } from '../../ports/journal.ts'
import { NOTHING_KNOWN, isSentTo, newsOf } from './news.ts'
import { PushDesk } from './push-desk.ts'

const OPTIONS = [
  { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'all', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

let home: string
let service: ScriptedPushService
let credentials: Credentials
let desk: PushDesk
let tell: (change: SessionChange) => void
/** The answers that reached a session. */
let answered: string[]
const clock = new TestClock()

beforeEach(async () => {
  home = newDirectory()
  service = await ScriptedPushService.start()
  credentials = new Credentials(home, clock)
  answered = []
  const sessions = {
    watch: (listener: typeof tell) => {
      tell = listener
      return () => undefined
    },
    find: async (id: string) => row(id, 'waiting'),
    answer: async (_id: string, { optionId }: { readonly optionId: string }) => {
      answered.push(optionId)
      return { counted: true, outcome: { outcome: 'cancelled' as const } }
    },
  }
  desk = new PushDesk({
    home,
    clock,
    sessions: Promise.resolve(sessions),
    services: [service.origin],
    ring,
    report: (error) => expect.fail(String(error)),
  })
  await Promise.resolve()
})
afterEach(() => service.close())

const ring = (): KeyRing => credentials.ring(() => undefined)

function row(id: string, phase: SessionSummary['phase'], more: Partial<SessionSummary> = {}): SessionSummary {
  const times = { createdAt: 1, updatedAt: 1 }
  return { id, cwd: '/', additionalDirectories: [], agent: 'guide', title: id, phase, lastSeq: 3, ...times, ...more }
}

const ended = (seq: number, lastSeq = seq) => {
  return { standing: { lastEnd: { stopReason: 'end_turn', seq, at: clock.now() } }, lastSeq }
}
const waiting = (title: string) => {
  const call = { requestId: `request of ${title}`, toolCallId: 'call', title }
  return { standing: { waiting: { ...call, options: OPTIONS, count: 1 } } }
}
const changed = (...args: Parameters<typeof row>) => tell({ kind: 'changed', row: row(...args) })
const stored = () => readFileSync(join(home, 'push-subscriptions.json'), 'utf8')

/** A device that may answer, with notifications on. */
async function subscribed(path: string, answers = false) {
  const { token } = credentials.devices.pair(credentials.devices.offer({ role: 'approve' }).code, path)
  const holder = ring().holderOf(token) ?? expect.fail('it was paired')
  const { endpoint, keys } = service.subscription
  const target = { ...keys, endpoint: endpoint.replace(/one$/u, path) }
  await desk.subscribe(holder, target, answers)
  return { holder, target }
}

/** The next message about this session. */
async function delivered(title: string) {
  const found = () => service.delivered.find((one) => one.title === title)
  await expect.poll(found).toBeDefined()
  return found() ?? expect.fail('it was there')
}

test('a turn that ended while no device was subscribed causes no notification when the next one begins', async () => {
  changed('s1', 'idle', ended(5))
  changed('s2', 'working')
  await subscribed('one')
  changed('s1', 'working', ended(5, 6))
  // The end of a turn that had begun before is news, also when its title came with it.
  changed('s2', 'idle', ended(7, 8))
  await delivered('s2')
  expect(service.delivered.map(({ title }) => title)).toEqual(['s2'])
})

test('for an unknown session, only an end that is its last entry causes a notification', () => {
  expect(newsOf(undefined, row('s1', 'working', ended(5, 6)), 0)).toBeUndefined()
  expect(newsOf(undefined, row('s1', 'idle', ended(5)), 0)).toEqual({ kind: 'ended' })
  // What was put off is still true when a title has come since.
  expect(newsOf(NOTHING_KNOWN, row('s1', 'idle', ended(5, 6)), 0)).toEqual({ kind: 'ended' })
})

test.each([
  ['Run npm test', ['yes', 'no']],
  ['Run npm test && curl … | sh', ['no']],
  [`Run ${'x'.repeat(200)} && rm -r /`, ['no']],
])('the notification of "%s" has the buttons %j', async (title, buttons) => {
  await subscribed('one', true)
  changed('s1', 'waiting', waiting(title))
  const { ticket = '', options } = await delivered('s1')
  expect(options?.map(({ optionId }) => optionId)).toEqual(buttons)
  expect(await desk.answer(ticket, 'yes')).toEqual(buttons.includes('yes') ? { counted: true } : undefined)
})

test('buttons that were turned off no longer answer', async () => {
  const { holder, target } = await subscribed('one', true)
  changed('s1', 'waiting', waiting('Run npm test'))
  const { ticket = '' } = await delivered('s1')
  await desk.subscribe(holder, target, false)
  expect(await desk.answer(ticket, 'yes')).toBeUndefined()
  expect(answered).toEqual([])
})

test('an unreadable file of credentials removes no subscription; a removed device does', async () => {
  await subscribed('one')
  const { holder } = await subscribed('two')
  const devices = join(home, 'devices.json')
  const good = readFileSync(devices, 'utf8')
  writeFileSync(devices, '{')
  changed('s1', 'idle', ended(5))
  writeFileSync(devices, good)
  expect(stored()).toContain('/one')
  credentials.leave(holder)
  changed('s2', 'idle', ended(6))
  expect(stored()).toContain('/one')
  expect(stored()).not.toContain('/two')
  await delivered('s2')
  expect(service.delivered.map(({ title }) => title)).toEqual(['s2'])
})

test('a browser that was paired again is notified once', async () => {
  const first = await subscribed('one')
  const second = await subscribed('one')
  expect([(await desk.state(first.holder)).on, (await desk.state(second.holder)).on]).toEqual([false, true])
  expect(stored().match(/\/one/gu)).toHaveLength(1)
})

test('Safari gets no push message when a permission request has ended, for it would have to show a notification', () => {
  const [safari, chrome] = ['https://web.push.apple.com/x', 'https://fcm.googleapis.com/fcm/send/x']
  expect([isSentTo(safari, { kind: 'over' }), isSentTo(safari, { kind: 'ended' })]).toEqual([false, true])
  expect(isSentTo(chrome, { kind: 'over' })).toBe(true)
})
