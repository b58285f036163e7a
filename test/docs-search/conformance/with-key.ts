/** Adds the key to every request: the suite sends none, and the server takes none without. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface WithKey {
  readonly url: string
  close(): void
}

export async function withKey(port: number, key: string): Promise<WithKey> {
  const proxy = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const onward = request(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, 'x-api-key': key } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}
