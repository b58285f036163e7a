import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../../test/fixtures/process/loopback-server.ts'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { startGuarded, type Guarded, type GuardedOptions } from '../../../../test/fixtures/mcp/authorization-server.ts'
import { namesOf, openBench, withoutSignal, type Bench } from '../../../../test/fixtures/mcp/servers.ts'
import { freePort } from '../../../../test/fixtures/process/free-port.ts'
import { changeTo } from '../../../../test/fixtures/mcp/torture.ts'
import type { Elicitation, ElicitationAnswer } from '../../../ports/values/elicitation.ts'
import type { ToolRegistry, ToolResult } from '../../../ports/tools.ts'
import { systemClock } from '../../clock.ts'
import type { HttpMcpServer } from '../transport/headers.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import { DirectoryLogins } from './logins.ts'

let directory = ''
beforeEach(() => void (directory = newDirectory()))

/** Each has what the file has, as that of another process would. */
const loginsOf = () => new DirectoryLogins({ directory, clock: systemClock })

const signal = new AbortController().signal

/** What is kept; the files of locks stay beside it. */
function files(): readonly string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.json'))
}

async function guarded(options?: GuardedOptions): Promise<Guarded> {
  const server = await startGuarded(options)
  onTestFinished(() => server.close())
  return server
}

function bench(): Bench {
  const made = openBench({ elicitation: true, logins: loginsOf(), limits: { restartPausesMs: [10, 10, 10] } })
  onTestFinished(() => made.close())
  return made
}

function at(server: Guarded): HttpMcpServer {
  return { type: 'http', name: 'wiki', url: `${server.url}?key=sentinel-key`, headers: [] }
}

async function says(question: Elicitation): Promise<ElicitationAnswer> {
  if (question.mode === 'url') void browse(question.url)
  return { action: 'accept' }
}

async function browse(url: string): Promise<string> {
  return await (await fetch(url)).text()
}

function textOf({ content }: ToolResult): string {
  return content[0]?.type === 'text' ? content[0].text : ''
}

async function loggedIn(server: Guarded, settings?: LoginSettings): Promise<void> {
  const login = await loginsOf().at(at(server), settings).login(signal)
  await Promise.all([browse(login.url), login.done])
}

async function failure(options: GuardedOptions): Promise<string> {
  const failed = await loggedIn(await guarded(options)).catch((error: unknown) => error)
  return failed instanceof Error ? failed.message : 'nothing failed'
}

async function codeOf(calling: Promise<unknown>): Promise<string> {
  const [{ reason }] = (await Promise.allSettled([calling])) as [{ readonly reason?: { readonly code: string } }]
  return reason?.code ?? 'none'
}

describe('a server that needs a login', () => {
  test('names the command for it, and offers one tool that asks the user', async () => {
    const server = await guarded()
    const registry = bench().open([at(server)])
    const list = await registry.ready(30_000, signal)
    expect(list.servers).toMatchObject([{ state: 'failed', tools: 0 }])
    expect(list.servers[0]?.reason).toBe(`MCP server wiki requires a login. Run: parley mcp login ${server.url}`)
    expect(list.tools).toMatchObject([{ name: 'wiki__log_in', builtin: true, readOnly: true }])
    expect(server.registered).toEqual([])
    const questions: Elicitation[] = []
    const onElicit = (question: Elicitation) => (questions.push(question), says(question))
    const result = await registry.call('wiki__log_in', {}, withoutSignal({ onElicit }))
    expect(result).toMatchObject({ isError: false })
    const url = expect.stringContaining(server.issuer) as string
    expect(questions).toMatchObject([{ mode: 'url', server: 'wiki', url }])
    expect(namesOf(registry)).toEqual(['wiki__say', 'wiki__write'])
    expect(textOf(await registry.call('wiki__say', {}, withoutSignal()))).toBe('did say')
    expect(JSON.stringify(registry.list())).not.toContain('sentinel')
  })

  test('stays unconnected without one, and the agent gets the reason', async () => {
    const server = await guarded()
    const registry = bench().open([at(server)])
    await registry.ready(30_000, signal)
    const result = await registry.call(
      'wiki__log_in',
      {},
      withoutSignal({ onElicit: async () => ({ action: 'decline' }) }),
    )
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('parley mcp login')
    expect(namesOf(registry)).toEqual(['wiki__log_in'])
  })

  test('is connected in every live session after a login by another process', async () => {
    const server = await guarded()
    const sessions = [bench().open([at(server)]), bench().open([at(server)])]
    await Promise.all(sessions.map((one) => one.ready(30_000, signal)))
    await loggedIn(server)
    await Promise.all(sessions.map((one) => changeTo(one, ({ servers }) => servers[0]?.state === 'ready')))
    expect(server.registered).toHaveLength(1)
  })

  test('with an Authorization header in its configuration never gets a stored login [S11]', async () => {
    const server = await guarded()
    await loggedIn(server)
    const registry = bench().open([{ ...at(server), headers: [['authorization', 'Bearer mine']] }])
    const list = await registry.ready(30_000, signal)
    expect(list.servers[0]?.reason).toContain('HTTP 401')
    expect(server.shown.size).toBe(0)
  })
})

describe('a stored login', () => {
  test('is readable by the user only, by issuer, and registers a client once for the same redirect address [A1 A7 A8 A15]', async () => {
    const server = await guarded()
    await loggedIn(server)
    const [file = ''] = files()
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600)
    const kept = JSON.parse(readFileSync(join(directory, file), 'utf8')) as { accounts: object }
    expect(kept).toMatchObject({ server: server.url, issuer: server.issuer })
    expect(Object.keys(kept.accounts)).toEqual([server.issuer])
    expect(JSON.stringify(kept)).not.toContain('sentinel-key')
    await loggedIn(server)
    expect(server.registered).toHaveLength(1)
    expect(files()).toEqual([file])
  })

  test('is renewed once for all sessions and processes [A15 G15]', async () => {
    const server = await guarded({ slowMs: 100 })
    await loggedIn(server)
    // Each bench has logins of its own, as another process would.
    const sessions = await Promise.all([bench(), bench(), bench()].map((one) => opened(one, server)))
    server.expire()
    const calls = sessions.flatMap((one) => [1, 2, 3].map(() => one.call('wiki__say', {}, withoutSignal())))
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map(() => 'did say'))
    expect(server.count('POST /token refresh_token')).toBe(1)
  })

  test('that cannot be renewed disconnects the server, and its call asks the user to log in', async () => {
    const server = await guarded()
    await loggedIn(server)
    const made = bench()
    const [asking, silent] = [await opened(made, server), await opened(made, server)]
    server.revoke()
    expect(await codeOf(silent.call('wiki__say', {}, withoutSignal()))).toBe('TOOL_NOT_RUN')
    await changeTo(silent, ({ tools }) => tools[0]?.serverToolName === 'log_in')
    expect(textOf(await asking.call('wiki__say', {}, withoutSignal({ onElicit: says })))).toBe('did say')
    await changeTo(silent, ({ servers }) => servers[0]?.state === 'ready')
  })

  test('is kept when the authorization server fails: the call did not run, and no login is needed', async () => {
    const server = await guarded({ renewals: 503 })
    await loggedIn(server)
    const registry = await opened(bench(), server)
    server.expire()
    const error: unknown = await registry.call('wiki__say', {}, withoutSignal()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'TOOL_NOT_RUN' })
    expect(String(error)).not.toContain('sentinel')
    expect(registry.list().servers).toMatchObject([{ state: 'ready' }])
    const [file = ''] = files()
    expect(readFileSync(join(directory, file), 'utf8')).toContain('sentinel-refresh')
  })

  test('without the scope of a tool: the user is asked for it, once [A12]', async () => {
    const server = await guarded({ scopes: { write: 'write' } })
    await loggedIn(server)
    const registry = await opened(bench(), server)
    expect(await codeOf(registry.call('wiki__write', {}, withoutSignal()))).toBe('TOOL_NOT_RUN')
    expect(registry.list().servers).toMatchObject([{ state: 'ready' }])
    const pages: string[] = []
    const onElicit = (question: Elicitation) => {
      if (question.mode === 'url') pages.push(new URL(question.url).searchParams.get('scope') ?? '')
      return says(question)
    }
    expect(textOf(await registry.call('wiki__write', {}, withoutSignal({ onElicit })))).toBe('did write')
    expect(pages).toEqual(['read write'])
  })

  test('is deleted by a logout', async () => {
    const server = await guarded()
    await loggedIn(server)
    const logins = loginsOf()
    expect(await logins.forget(at(server))).toBe(true)
    expect(files()).toEqual([])
    expect(await logins.forget(at(server))).toBe(false)
  })
})

async function opened(made: Bench, server: Guarded): Promise<ToolRegistry> {
  const registry = made.open([at(server)])
  expect((await registry.ready(30_000, signal)).servers).toMatchObject([{ state: 'ready' }])
  return registry
}

describe('a login', () => {
  test('discovers the authorization server by OpenID metadata too [A3]', async () => {
    await loggedIn(await guarded({ wellKnown: 'openid-configuration' }))
  })

  test('is shared by all clients that are asked at once, and is cancelled when all have left', async () => {
    const server = await guarded()
    const logins = loginsOf()
    const [one, other] = [await logins.at(at(server)).login(signal), await logins.at(at(server)).login(signal)]
    expect(one.url).toBe(other.url)
    one.leave()
    other.leave()
    await expect(one.done).rejects.toMatchObject({ code: 'MCP_LOGIN_FAILED' })
    await other.done.catch(() => undefined)
    const next = await logins.at(at(server)).login(signal)
    expect(next.url).not.toBe(one.url)
    next.leave()
    await next.done.catch(() => undefined)
  })

  test('uses a pre-registered client and its exact redirect address [A6]', async () => {
    const server = await guarded({ metadata: { registration_endpoint: undefined } })
    await expect(loggedIn(server)).rejects.toThrow('does not support dynamic client registration')
    const port = await freePort()
    await loggedIn(server, { clientId: 'ours', redirectUrl: `http://localhost:${port}/back` })
    expect(server.registered).toEqual([])
  })

  test('uses a client id metadata document where the authorization server supports one [A6]', async () => {
    const server = await guarded({ metadata: { client_id_metadata_document_supported: true } })
    const clientMetadataUrl = 'https://parley.example/client.json'
    const login = await loginsOf().at(at(server), { clientMetadataUrl }).login(signal)
    expect(new URL(login.url).searchParams.get('client_id')).toBe(clientMetadataUrl)
    await Promise.all([browse(login.url), login.done])
    expect(server.registered).toEqual([])
  })

  test('with the issuer of another authorization server is refused, and its message is not quoted [A9]', async () => {
    const said = await failure({
      comeBackWith(params) {
        params.set('iss', 'https://evil.example')
        params.set('error_description', 'sentinel words')
      },
    })
    expect(said).toContain('Issuer mismatch')
    expect(said).not.toContain('sentinel')
    expect(readdirSync(directory)).toEqual([])
  })

  test('answered without its state is ignored, and the right answer still counts [A10 G15]', async () => {
    const server = await guarded()
    const login = await loginsOf().at(at(server)).login(signal)
    const back = new URL(new URL(login.url).searchParams.get('redirect_uri') ?? '')
    for (const query of ['?code=x', '?code=x&state=y']) expect((await fetch(back.href + query)).status).toBe(400)
    expect((await fetch(new URL('/other', back))).status).toBe(404)
    await Promise.all([browse(login.url), login.done])
  })

  test('that the user refused is reported as refused', async () => {
    const said = await failure({
      comeBackWith(params) {
        params.delete('code')
        params.set('error', 'access_denied')
      },
    })
    expect(said).toContain('access_denied')
  })

  test.each([
    ['without PKCE [A4]', { code_challenge_methods_supported: undefined }, 'PKCE'],
    ['with plain PKCE only', { code_challenge_methods_supported: ['plain'] }, 'PKCE'],
    ['for another issuer', { issuer: 'https://evil.example' }, 'Issuer mismatch'],
    ['on a page that is none', { authorization_endpoint: 'javascript:alert(1)' }, ''],
    ['on a page in clear text', { authorization_endpoint: 'http://login.example/authorize' }, 'must not be opened'],
    ['on a page of data', { authorization_endpoint: 'data:text/html,hi' }, ''],
    ['with tokens of our network', { token_endpoint: 'https://169.254.169.254/token' }, 'which is not allowed'],
    ['with tokens in clear text [A16]', { token_endpoint: 'http://tokens.example/token' }, ''],
  ])('%s is refused', async (_, metadata, word) => {
    const said = await failure({ metadata })
    expect(said).toContain('Not logged in')
    expect(said).toContain(word)
  })

  test('for another resource is refused [A5]', async () => {
    const server = await guarded({ resource: 'https://elsewhere.example/mcp' })
    await expect(loggedIn(server)).rejects.toThrow('it says that its logins are for https://elsewhere.example/mcp')
    expect(server.registered).toEqual([])
  })

  test.each(['http://169.254.169.254/latest/meta-data', 'http://10.0.0.1/x', 'http://metadata.example/x'])(
    'does not follow an address to %s',
    async (resourceMetadata) => {
      expect(await failure({ resourceMetadata })).toContain('which is not allowed')
    },
  )

  test('does not follow a redirect there either, from any host [A16 Z4]', async () => {
    let hops = 0
    const hop = createServer((_, response) => {
      hops += 1
      response.writeHead(302, { location: 'http://169.254.169.254/x' }).end()
    })
    const resourceMetadata = `http://127.0.0.1:${await listenOnLoopback(hop)}/x`
    // An address that does not answer would take as long as our patience.
    expect(await failure({ resourceMetadata })).toContain('it does not say how to log in')
    expect(hops).toBeGreaterThan(0)
  })
})
