/** Addresses without a provider behind them: the error comes at once, and says what the user can do. */
import { createServer } from 'node:net'
import { APICallError } from '@ai-sdk/provider'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../test/fixtures/process/loopback-server.ts'
import { isParleyError } from '../../errors/parley-error.ts'
import { systemClock } from '../clock.ts'
import { failFor } from './http/failure.ts'
import { openModels } from './providers/models.ts'
import type { Provider } from '../../ports/values/provider.ts'

function provider(url: string): Provider {
  const named = { name: 'p', title: 'P', kind: 'openai', key: undefined, keyNames: [] } as const
  return { ...named, headers: {}, models: [], url, isLocal: true, isConfigured: true }
}

/** Answers with a line of another language. */
async function somethingElse(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
  })
  return await listenOnLoopback(server)
}

async function failureAt(url: string): Promise<unknown> {
  const models = openModels({ providers: [provider(url)], clock: systemClock })
  onTestFinished(() => models.close())
  const model = await models.open('p:m')
  const asked = { system: '', messages: [], tools: [], session: 's', signal: new AbortController().signal }
  const hello = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] as const
  try {
    for await (const _part of model.stream({ ...asked, messages: hello }));
  } catch (error) {
    return error
  }
  throw new Error('nothing failed')
}

test.each(['http', 'https'])('a server that does not speak %s is reported', async (scheme) => {
  const error = await failureAt(`${scheme}://127.0.0.1:${await somethingElse()}/v1`)
  expect(error).toMatchObject({ code: 'MODEL_ABSENT' })
  expect(String(error)).toMatch(new RegExp(`what listens there does not speak ${scheme}\\b`, 'u'))
})

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'of another host'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'no known authority'],
])('an untrusted certificate is not retried: %s', (code, words) => {
  const cause = Object.assign(new Error(code), { code })
  const blamed = { provider: provider('https://p.example/v1'), model: 'p:m', watch: { endReason: undefined }, now: 0 }
  try {
    failFor(callError(cause), blamed)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ code: 'MODEL_CERTIFICATE' })
    expect(isParleyError(error) && error.retryable).toBe(false)
    expect(String(error)).toContain(words)
  }
})

function callError(cause: Error): APICallError {
  return new APICallError({ message: 'Cannot connect', url: 'https://p.example/v1', requestBodyValues: {}, cause })
}
