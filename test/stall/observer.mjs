/** A thread that is the other client: it asks for the list of sessions all the time and keeps the longest wait for an answer. */
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** Milliseconds between an answer and the next question. */
const PAUSE = 10

let worst = 0
let answers = 0
let asked = performance.now()
let isOpen = false
let rest = ''

const socket = connect(workerData.socket)
socket.setEncoding('utf8').on('error', () => undefined)
socket.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) if (JSON.parse(line).method === undefined) answered()
})
send('initialize', { protocolVersion: 1, clientCapabilities: {} })

function send(method, params) {
  asked = performance.now()
  isOpen = true
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: answers, method, params })}\n`)
}

function answered() {
  worst = Math.max(worst, performance.now() - asked)
  isOpen = false
  answers += 1
  setTimeout(() => send('session/list', {}), PAUSE)
}

parentPort.on('message', (order) => {
  const soFar = isOpen ? Math.max(worst, performance.now() - asked) : worst
  worst = 0
  if (isOpen) asked = performance.now()
  if (order === 'end') socket.destroy()
  parentPort.postMessage(soFar)
})
