/**
 * `npm run kill -- side-by-side`: two plain clients on one session through two relays, and what each of them was told, side by side: a join in
 * mid-message, a prompt by the other, a permission answered by one. Nothing here knows more than ACP.
 */
import { type Message, textOf, updateIn } from '../e2e/message.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import { setup as build } from '../build.setup.ts'
import { Town, patiently } from './town.ts'

const STORY = [
  { chunk: 'word{n} ', times: 12, everyMs: 25 },
  { permission: { toolCallId: 'ask', title: 'May I write it down?' } },
  { chunk: 'Written. ' },
]
const COLUMN = 64

/** One thing that a client was told, and when. */
interface Row {
  readonly at: number
  readonly column: 0 | 1
  readonly text: string
}

const rows: Row[] = []

function note(column: 0 | 1, text: string): void {
  const last = rows.at(-1)
  const isMore = text.startsWith('  …') && last?.column === column && last.text.startsWith('  …')
  if (isMore) rows[rows.length - 1] = { ...last, text: `${last.text}${text.slice(3)}` }
  else rows.push({ at: performance.now(), column, text })
}

function watch(column: 0 | 1, relay: RawClient): void {
  relay.listen((message) => {
    const text = wordsOf(message)
    if (text !== undefined) note(column, text)
  })
}

function wordsOf(message: Message): string | undefined {
  const seen = updateIn(message)
  if (seen === undefined) return message.method === undefined ? answerIn(message) : requestIn(message)
  const { sessionUpdate } = seen.update
  if (sessionUpdate === 'agent_message_chunk') return `  …${textOf(seen)}`
  if (sessionUpdate === 'user_message_chunk') return `[${seen.seq}] user: ${textOf(seen)}`
  return `[${seen.seq}] ${sessionUpdate} ${JSON.stringify(seen.update['title'] ?? seen.update['status'] ?? '')}`
}

function requestIn({ method, id, params }: Message): string {
  if (method === '$/cancel_request') return `$/cancel_request of ${String(params?.['requestId'])}`
  return `${method} (${String(id)})`
}

function answerIn({ id, result, error }: Message): string {
  return `= answer ${String(id)} ${JSON.stringify(result?.['stopReason'] ?? error?.message ?? {})}`
}

async function play(town: Town): Promise<void> {
  const left = await town.relay()
  const { result } = await left.request('session/new', { cwd: town.cwd, mcpServers: [] })
  const sessionId = String(result?.['sessionId'])
  const right = await town.relay()
  watch(0, left)
  watch(1, right)
  const prompt = (relay: RawClient, column: 0 | 1, text: string): number => {
    note(column, `> prompt “${text}”`)
    return relay.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }
  const first = prompt(left, 0, 'Tell me.')
  await patiently(
    'half a message',
    left.until((message) => JSON.stringify(message).includes('word6 ')),
  )
  note(1, '> session/load, in mid-message')
  right.ask('session/load', { sessionId, cwd: town.cwd, mcpServers: [] })
  await answer({ from: right, column: 1, beside: left, nth: 1 })
  await patiently('the end', left.answerTo(first))
  const second = prompt(right, 1, 'And again.')
  await answer({ from: left, column: 0, beside: right, nth: 2 })
  await patiently('the end', right.answerTo(second))
}

interface Answering {
  readonly from: RawClient
  readonly column: 0 | 1
  readonly beside: RawClient
  /** Which of the questions. */
  readonly nth: number
}

/** Both are asked, one answers. */
async function answer({ from, column, beside, nth }: Answering): Promise<void> {
  const asked = (client: RawClient) => client.received.filter(({ method }) => method === 'session/request_permission')
  for (const client of [from, beside])
    await patiently(
      'the question',
      client.until(() => asked(client).length >= nth),
    )
  note(column, '> allow_once')
  from.reply(asked(from).at(-1)?.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
}

function print(): void {
  const began = rows[0]?.at ?? 0
  const line = (left: string, right: string, ms: string) =>
    console.log(`${ms.padStart(7)}  ${left.padEnd(COLUMN)}│ ${right}`)
  line('the first client', 'the second client', 'ms')
  line('─'.repeat(COLUMN - 1), '─'.repeat(COLUMN - 1), '─────')
  for (const { at, column, text } of rows) {
    const pieces = text.match(new RegExp(`.{1,${COLUMN - 2}}`, 'gu')) ?? ['']
    for (const [index, piece] of pieces.entries())
      line(column === 0 ? piece : '', column === 1 ? piece : '', index === 0 ? (at - began).toFixed(0) : '')
  }
}

await build()
const town = await Town.found(STORY)
try {
  await play(town)
  print()
} finally {
  await town.raze()
}
