/** DNS rebinding: the address of a host name may change between two connections. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../../test/fixtures/process/loopback-server.ts'
import type { Addresses } from '../../../net-policy/guarded-dispatcher.ts'
import { openNetwork } from './network.ts'

async function listening() {
  const heard: (string | undefined)[] = []
  const server = createServer((request, response) => {
    heard.push(request.headers.host)
    response.setHeader('connection', 'close').end('hello')
  })
  return { port: await listenOnLoopback(server), heard }
}

/** A network whose names lead where the answers say, one after the other; the last one stays. */
function networkOf(url: string, answers: readonly string[]) {
  let asked = 0
  const network = openNetwork({ type: 'http', name: 's', url, headers: [] }, async (): Promise<Addresses> => {
    const address = answers[Math.min(asked, answers.length - 1)] ?? ''
    asked += 1
    return address === '' ? [] : [{ address, family: address.includes(':') ? 6 : 4 }]
  })
  onTestFinished(() => network.destroy())
  return network
}

async function failure(fetched: Promise<Response>): Promise<string> {
  try {
    return await (await fetched).text()
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}

test('a host name that was public and now resolves to this machine is not connected to (DNS rebinding)', async () => {
  const { port, heard } = await listening()
  const network = networkOf(`http://rebound.example:${port}/mcp`, ['93.184.215.14', '127.0.0.1'])
  // What it names elsewhere is judged by where it is itself, which is looked at then.
  await failure(network.fetch('http://elsewhere.example/'))
  expect(await failure(network.fetch(`http://rebound.example:${port}/mcp`))).toContain('deeper into our network')
  expect(heard).toEqual([])
})

test('a host name that resolves to this machine, as a user configured it, stays allowed', async () => {
  const { port, heard } = await listening()
  const network = networkOf(`http://mine.example:${port}/mcp`, ['127.0.0.1'])
  expect(await failure(network.fetch(`http://mine.example:${port}/mcp`))).toBe('hello')
  expect(await failure(network.fetch(`http://mine.example:${port}/mcp`))).toBe('hello')
  expect(heard).toHaveLength(2)
})
