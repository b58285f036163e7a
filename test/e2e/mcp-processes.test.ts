/** What the real server says of MCP servers: an account of each process in its log. */
import { expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, logOf, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname

test('every process that is started as a server is in the log, for which session, without what may be secret [Z3]', async () => {
  const place = await placeWith([{ end: 'end_turn' }])
  await serve(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent })
  const env = [{ name: 'TOKEN', value: 'sentinel-env' }]
  const args = [program, 'honest', messageLog().path, '--key=sentinel-argument']
  const risky = ['-c', 'test -x /none && sudo true; exec "$@"', 'sh', process.execPath, ...args]
  const id = await openSession(ada, place, [
    { name: 'plain', command: process.execPath, args, env },
    { name: 'risky', command: 'sh', args: risky, env },
  ])
  const started = () =>
    logOf(place)
      .split('\n')
      .filter((line) => line.includes('started an MCP server'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  await until(() => started().length === 2)
  const [risk, plain] = started().toSorted((one) => (one['server'] === 'risky' ? -1 : 1))
  expect(plain).toMatchObject({ server: 'plain', session: id, command: process.execPath })
  expect(plain).not.toHaveProperty('danger')
  expect(risk).toMatchObject({ server: 'risky', command: 'sh', danger: 'it runs with the rights of another user' })
  expect(runs(Number(plain?.['child']))).toBe(true)
  expect(logOf(place)).not.toContain('sentinel')
})
