/** Two processes renew one login whose refresh token rotates; one of them is stopped in the middle of it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { startGuarded, type Guarded } from '../../../../test/fixtures/mcp/authorization-server.ts'
import type { Renewed, RenewingOptions } from '../../../../test/fixtures/mcp/renewing.ts'
import { linesOf, stateOf, until } from '../../../../test/fixtures/process/running.ts'
import { systemClock } from '../../clock.ts'
import { DirectoryLogins } from './logins.ts'
import type { StoredLogins } from './store.ts'

const program = new URL('../../../../test/fixtures/mcp/renewing.ts', import.meta.url).pathname
const children: ChildProcess[] = []
const closing: (() => Promise<unknown>)[] = []
let directory = ''

beforeEach(() => void (directory = newDirectory()))
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const close of closing.splice(0)) await close()
})

interface Renewing {
  readonly child: ChildProcess
  /** The first line that is not about waiting. */
  outcome(): Promise<Renewed>
  /** Resolves when it has said so often that it waits, or has ended. */
  waited(times: number): Promise<void>
}

function startRenewing(url: string, { aheadMs = 0, leapMs = 0 }: Partial<RenewingOptions> = {}): Renewing {
  const options: RenewingOptions = { directory, url, aheadMs, leapMs }
  const args = ['--import', 'tsx', program, JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const line = linesOf(child.stdout)
  let result: Renewed | undefined
  const waited = async (times: number) => {
    for (let seen = 0; seen < times && result === undefined; seen += 1) {
      const text = await line()
      if (text !== 'waiting') result = JSON.parse(text) as Renewed
    }
  }
  return { child, waited, outcome: async () => (await waited(Infinity), result ?? expect.fail('it has ended')) }
}

/** A server with a stored login whose token has expired; the first process to renew it is stopped when its request has arrived. */
async function stoppedInRenewal(): Promise<{ readonly server: Guarded; readonly first: Renewing }> {
  let first: Renewing | undefined
  let stopped: () => void = () => undefined
  const isStopped = new Promise<void>((resolve) => (stopped = resolve))
  const server = await startGuarded({
    async beforeRenewal() {
      if (server.count('POST /token refresh_token') > 1) return
      const pid = first?.child.pid ?? 0
      process.kill(pid, 'SIGSTOP')
      await until(() => stateOf(pid) === 'T')
      stopped()
    },
  })
  closing.push(() => server.close())
  const authorization = new DirectoryLogins({ directory, clock: systemClock }).at(httpServer(server))
  const login = await authorization.login(new AbortController().signal)
  await Promise.all([fetch(login.url), login.done])
  server.expire()
  first = startRenewing(server.url)
  await isStopped
  return { server, first }
}

function httpServer({ url }: Guarded) {
  return { type: 'http', name: 'wiki', url, headers: [] } as const
}

function kept(): StoredLogins {
  const file = readdirSync(directory).find((name) => name.endsWith('.json')) ?? ''
  return JSON.parse(readFileSync(join(directory, file), 'utf8')) as StoredLogins
}

test('a second renewal waits for a stopped one for minutes, and both get its result', async () => {
  const { server, first } = await stoppedInRenewal()
  const second = startRenewing(server.url, { aheadMs: 600_000 })
  await second.waited(3)
  first.child.kill('SIGCONT')
  const outcomes = [await first.outcome(), await second.outcome()]
  expect(server.count('POST /token refresh_token')).toBe(1)
  expect(outcomes).toMatchObject([{ isRenewed: true }, { isRenewed: true, token: outcomes[0]?.token }])
  const account = { client: { client_id: 'client-1' }, tokens: { access_token: outcomes[0]?.token } }
  expect(kept().accounts[server.issuer]).toMatchObject(account)
})

test('a renewal that has waited for too long fails, and does not break the lock of the stopped one', async () => {
  const { server, first } = await stoppedInRenewal()
  const second = startRenewing(server.url, { leapMs: 30_000 })
  expect((await second.outcome()).error).toContain('Another process')
  first.child.kill('SIGCONT')
  const { token } = await first.outcome()
  expect(server.count('POST /token refresh_token')).toBe(1)
  expect(kept().accounts[server.issuer]?.tokens?.access_token).toBe(token)
})

test('a renewal that was killed does not block the others', async () => {
  const { server, first } = await stoppedInRenewal()
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  expect(await startRenewing(server.url).outcome()).toMatchObject({ isRenewed: false })
})
