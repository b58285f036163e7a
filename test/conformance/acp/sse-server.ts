/** A scripted MCP server over the transport of 2024-11-05, HTTP with server-sent events: one tool, and a note of every request. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fields } from '../../e2e/message.ts'

export interface SseServer {
  readonly url: string
  /** Of every request: its method and its headers. */
  readonly seen: readonly { readonly method: string; readonly headers: IncomingHttpHeaders }[]
  close(): Promise<void>
}

export async function startSseServer(): Promise<SseServer> {
  const seen: SseServer['seen'][number][] = []
  let stream: ServerResponse | undefined
  const tell = (event: string, data: string): void => void stream?.write(`event: ${event}\ndata: ${data}\n\n`)
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', headers: request.headers })
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return tell('endpoint', '/messages?session=1')
    }
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      response.writeHead(202).end()
      const answer = answerTo(JSON.parse(text) as Fields)
      if (answer !== undefined) tell('message', JSON.stringify(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    seen,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const TOOL = { name: 'murmur', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }

function answerTo({ id, method, params }: Fields): Fields | undefined {
  if (id === undefined) return undefined
  const answer = (result: Fields): Fields => ({ jsonrpc: '2.0', id, result })
  switch (method) {
    case 'initialize':
      return answer({
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      })
    case 'tools/list':
      return answer({ tools: [TOOL] })
    case 'tools/call':
      return answer({ content: [{ type: 'text', text: `murmured ${JSON.stringify(params)}` }] })
    default:
      return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'No such method.' } }
  }
}
