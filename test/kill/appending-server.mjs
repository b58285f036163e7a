/**
 * An MCP server over stdio, without any SDK, whose one tool does something that can be counted: `append` writes a line
 * to the file of its first argument, then takes a few milliseconds, then answers. Its second argument names this start of it.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , path, life] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const inputSchema = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] }

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'appending', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'append', description: 'Appends a line', inputSchema }] }),
  'tools/call': ({ arguments: { label } }) => {
    appendFileSync(path, `${JSON.stringify({ label, life })}\n`)
    return { content: [{ type: 'text', text: `appended ${label}` }] }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const known = methods[method]
  if (known === undefined) return send({ id, error: { code: -32601, message: 'Method not found' } })
  const result = known(params)
  setTimeout(() => send({ id, result }), method === 'tools/call' ? 5 : 0)
})
