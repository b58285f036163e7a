/** The sandbox for commands on the real binary: who may set it, what `parley doctor` says, and that kill -9 leaves nothing in it. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Cli, jsonLines, parley } from './cli.ts'
import type { Fields, Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const ON = { PARLEY_COMMAND_SANDBOX: 'on' }
/** Seconds that nothing else on this machine sleeps. */
const LONG = `301.${process.pid}`

async function saysOfSandbox(place: Place, env: Readonly<Record<string, string>>): Promise<Fields | undefined> {
  const { stdout } = await parley(['doctor', '--json'], { ...place, env })
  return jsonLines(stdout).find(({ what }) => what === 'sandbox')
}

function sleeping(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${LONG}\0`
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}

test('doctor tries it and says whether commands run in it', async () => {
  const place = await placeWith([])
  const found = await saysOfSandbox(place, ON)
  expect(['ok', 'problem']).toContain(found?.['state'])
  expect(await saysOfSandbox(place, {})).toMatchObject({ state: 'note' })
  const none = { ...ON, PATH: '/nowhere' }
  const says = 'none can be made, so every command is refused: bubblewrap (bwrap) is not installed'
  expect(await saysOfSandbox(place, none)).toMatchObject({ state: 'problem', says })
})

test('a project may not decide it, neither on nor off', async () => {
  const place = await placeWith([])
  for (const [key, value] of [
    ['command_sandbox', '"off"'],
    ['command_sandbox', '"on"'],
    ['command_network', 'true'],
  ]) {
    writeFileSync(join(place.cwd, '.parley.toml'), `${key} = ${value}\n`)
    const { stderr } = await parley(['run', 'hi', '--embedded'], place)
    expect(stderr).toContain(`${key} is ignored: only your own parley.toml or PARLEY_${key?.toUpperCase()} sets it`)
  }
})

test('kill -9 of the server ends what runs in it, also what has left its group and its environment', async () => {
  const command = `env -i setsid sleep ${LONG} & sleep ${LONG}`
  const call = { toolCall: { name: 'run_command', arguments: { command, background: true }, ask: true } }
  const place = await placeWith([call])
  const server: Cli = await serve(place, ON)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const sessionId = await openSession(client, place)
  const id = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const question = await client.until(({ method }: Message) => method === 'session/request_permission')
  client.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
  await client.answerTo(id)
  const said = JSON.stringify(client.received)
  if (said.includes('It runs in the background as b1.')) await expect.poll(() => sleeping().length).toBe(2)
  else expect(said).toContain('the setting command_sandbox is on, and no sandbox can be made here')
  server.child.kill('SIGKILL')
  await expect.poll(sleeping).toEqual([])
})
