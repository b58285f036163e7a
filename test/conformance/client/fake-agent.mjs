/**
 * An agent that plays a book: argv[2] is JSON of method → steps, argv[3] a file that gets every line that it hears. Steps are
 * {say} a message · {request} a message whose answer it waits for · {wait} for a notification of this method · {result} or
 * {error} the answer to what it plays for · {exit} with a code · {raw} text, {times} over, as it is. A method without a page is never answered.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const book = {
  initialize: [{ result: { protocolVersion: 1, agentInfo: { name: 'fake' } } }],
  ...JSON.parse(process.argv[2]),
}
const log = process.argv[3]
const waiting = new Map()

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const heard = (key) => new Promise((resolve) => waiting.set(key, resolve))

async function play(steps, id) {
  for (const step of steps) {
    if (step.say) send(step.say)
    if (step.raw) process.stdout.write(step.raw.repeat(step.times ?? 1))
    if (step.request) await asked(step.request)
    if (step.wait) await heard(step.wait)
    if ('result' in step || 'error' in step) send({ id, ...step })
    if ('exit' in step) process.exit(step.exit)
  }
}

function asked(request) {
  const answered = heard(`answer ${JSON.stringify(request.id)}`)
  send(request)
  return answered
}

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(log, `${line}\n`)
  const { id, method } = JSON.parse(line)
  const key = method === undefined ? `answer ${JSON.stringify(id)}` : method
  waiting.get(key)?.()
  waiting.delete(key)
  if (method !== undefined && book[method]) void play(book[method], id)
}
appendFileSync(log, '"the client closed its side"\n')
