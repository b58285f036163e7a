/** `parley service`: the files for systemd and launchd, and what is told to the manager. No systemd runs here, so a program stands in for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { socketPathOf } from '../../src/config/socket.ts'
import { type ServiceFacts, serviceUnit } from '../../src/server/service/unit.ts'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { endServers, parley } from './cli.ts'
import { cleanEnvironment } from './environment.ts'
import { binary, freshDirectory, scriptAgent } from './parley.ts'

endServers()

const facts: ServiceFacts = {
  platform: 'linux',
  home: '/home/ada',
  uid: 1000,
  environment: {},
  node: '/usr/bin/node',
  program: '/opt/my tools/100%/parley.mjs',
  state: '/home/ada/$state',
  socket: '/home/ada/50%/server.sock',
}

describe('by injected facts', () => {
  test('systemd gets a service and its socket, of the user, with their words quoted', () => {
    const [service, door] = serviceUnit(facts)?.files ?? []
    expect(service?.path).toBe('/home/ada/.config/systemd/user/parley.service')
    expect(service?.text).toMatch(/^ExecStart="\/usr\/bin\/node" .*"\/opt\/my tools\/100%%\/parley.mjs" "serve"$/mu)
    expect(service?.text).toContain('Environment="PARLEY_HOME=/home/ada/$state"\n')
    expect(service?.text).toMatch(/^ExecStop=\/bin\/sh -c ".*MAINPID.*" sh .*"stop" "--grace" "60"$/mu)
    expect(door?.path).toBe('/home/ada/.config/systemd/user/parley.socket')
    expect(door?.text).toContain('ListenStream=/home/ada/50%%/server.sock\nSocketMode=0600\n')
  })

  test('launchd gets a plist, with its words escaped', () => {
    const unit = serviceUnit({ ...facts, platform: 'darwin', program: '/opt/a&b/<parley>.mjs' })
    const [{ path, text } = { path: '', text: '' }] = unit?.files ?? []
    expect(path).toBe('/home/ada/Library/LaunchAgents/parley.plist')
    expect(text).toContain('<string>/opt/a&amp;b/&lt;parley&gt;.mjs</string><string>serve</string>')
    expect(unit?.start).toEqual([['launchctl', 'bootstrap', 'gui/1000', path]])
  })

  test('Windows has none', () => expect(serviceUnit({ ...facts, platform: 'win32' })).toBeUndefined())
})

/** A user account whose `systemctl` notes what it was told, and fails with `answer` if that is set. */
function account(answer = '') {
  const home = freshDirectory()
  const bin = join(home, 'bin')
  const told = join(home, 'told')
  mkdirSync(bin)
  const does = answer === '' ? 'exit 0' : `echo '${answer}' >&2; exit 1`
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> '${told}'\n${does}\n`)
  chmodSync(join(bin, 'systemctl'), 0o755)
  const env = { HOME: home, PATH: `${bin}:${process.env['PATH']}` }
  return {
    home,
    env,
    unit: join(home, 'config/systemd/user/parley.service'),
    told: () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []),
    service: (...args: readonly string[]) => parley(['service', ...args], { home, env }),
  }
}

describe('parley service', () => {
  test('install writes the unit and starts it in place of a server that runs; uninstall takes it back', async () => {
    const { home, env, unit, told, service } = account()
    const agent = await scriptAgent(home, [{ chunk: 'Hello.' }])
    await parley(['run', 'Hi'], { home, agent })
    expect(readPidFile(home)?.isServer).toBe(true)
    expect(await service('install', '--json')).toMatchObject({ code: 0, stderr: '' })
    expect(readPidFile(home)).toBeUndefined()
    expect(readFileSync(unit, 'utf8')).toContain(`PARLEY_HOME=${home}`)
    expect(told()).toEqual([
      '--user show-environment',
      '--user stop --no-block parley.socket',
      '--user daemon-reload',
      '--user enable parley.service',
      '--user restart parley.socket parley.service',
      '--user is-active --quiet parley.service',
    ])
    expect(JSON.parse((await service('status', '--json')).stdout)).toEqual({
      manager: 'systemd',
      file: unit,
      isInstalled: true,
      isRunning: true,
    })
    // systemd would start it again for the next client.
    await parley(['stop'], { home, env })
    expect(told().at(-1)).toBe('--user stop --no-block parley.socket')
    expect((await service('uninstall')).code).toBe(0)
    expect(told().at(-1)).toBe('--user disable --now parley.socket parley.service')
    expect(existsSync(unit)).toBe(false)
    expect((await parley(['ls', '--json'], { home })).stdout).not.toBe('')
  })

  test('without systemd one sentence says so, and nothing is written; --print works all the same', async () => {
    const { unit, service } = account('Failed to connect to bus')
    const { code, stdout, stderr } = await service('install')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('No service manager of this user answers: Failed to connect to bus.')
    expect(existsSync(unit)).toBe(false)
    expect((await service('install', '--print')).stdout).toContain('[Service]')
    expect(await service('status')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^The service is not installed; parley service install/u),
    })
  })
})

/** Listens as systemd would, and hands the socket to one server after the other, the first one when `go` is there. */
async function socketUnit(home: string): Promise<{ go(): void; stop(): void }> {
  const path = socketPathOf(home)
  const [go, stop] = [join(home, 'go'), join(home, 'stop')]
  const door = createServer().listen(`${path}~`)
  await once(door, 'listening')
  renameSync(`${path}~`, path)
  const { fd } = (door as unknown as { readonly _handle: { readonly fd: number } })._handle
  const serve = `LISTEN_PID=$$ LISTEN_FDS=1 exec '${process.execPath}' '${binary}' serve`
  const loop = `until [ -e '${go}' ]; do sleep 0.05; done; until [ -e '${stop}' ]; do sh -c "$SERVE"; done`
  const env = { ...cleanEnvironment(), PARLEY_HOME: home, SERVE: serve }
  const manager = spawn('sh', ['-c', loop], { env, stdio: ['ignore', 'ignore', 'ignore', fd] })
  onTestFinished(() => void manager.kill('SIGKILL'))
  door.close()
  return {
    go: () => writeFileSync(go, ''),
    stop: () => writeFileSync(stop, ''),
  }
}

/** Clients that have connected to the socket, which has two lines in this file as soon as it has one. */
function waiting(home: string): number {
  return readFileSync('/proc/net/unix', 'utf8').split(socketPathOf(home)).length - 2
}

test('a socket of systemd: clients wait while no server runs, start none, and the socket outlives each server', async () => {
  const home = freshDirectory()
  const agent = await scriptAgent(home, [{ chunk: 'Hello.' }])
  const unit = await socketUnit(home)
  const early = parley(['run', 'Hi'], { home, agent })
  await expect.poll(() => waiting(home)).toBeGreaterThan(0)
  expect(readPidFile(home)).toBeUndefined()
  unit.go()
  expect(await early).toMatchObject({ code: 0, stdout: 'Hello.\n' })
  const first = readPidFile(home)?.pid ?? 0
  process.kill(first, 'SIGKILL')
  expect((await parley(['ls', '--json'], { home })).stdout).toContain('"Hi"')
  expect(readPidFile(home)?.pid).not.toBe(first)
  unit.stop()
  expect((await parley(['stop'], { home })).code).toBe(0)
  expect(existsSync(socketPathOf(home))).toBe(true)
})
