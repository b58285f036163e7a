/** `parley service`: the files for systemd and launchd, and what is told to the manager. No systemd runs here, so a program stands in for it. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ServiceFacts, serviceUnit } from '../../src/server/service/unit.ts'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

const facts: ServiceFacts = {
  platform: 'linux',
  home: '/home/ada',
  uid: 1000,
  environment: {},
  node: '/usr/bin/node',
  program: '/opt/my tools/100%/parley.mjs',
  state: '/home/ada/$state',
}

describe('by injected facts', () => {
  test('systemd gets a unit of the user, with its words quoted', () => {
    const unit = serviceUnit(facts)
    expect(unit?.path).toBe('/home/ada/.config/systemd/user/parley.service')
    expect(unit?.text).toContain('ExecStart="/usr/bin/node" "/opt/my tools/100%%/parley.mjs" "serve"\n')
    expect(unit?.text).toContain('Environment="PARLEY_HOME=/home/ada/$state"\n')
    expect(unit?.text).toContain('"stop" "--grace" "60"\n')
  })

  test('launchd gets a plist, with its words escaped', () => {
    const unit = serviceUnit({ ...facts, platform: 'darwin', program: '/opt/a&b/<parley>.mjs' })
    expect(unit?.path).toBe('/home/ada/Library/LaunchAgents/parley.plist')
    expect(unit?.text).toContain('<string>/opt/a&amp;b/&lt;parley&gt;.mjs</string><string>serve</string>')
    expect(unit?.start).toEqual([['launchctl', 'bootstrap', 'gui/1000', unit?.path]])
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
    unit: join(home, 'config/systemd/user/parley.service'),
    told: () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []),
    service: (...args: readonly string[]) => parley(['service', ...args], { home, env }),
  }
}

describe('parley service', () => {
  test('install writes the unit and starts it in place of a server that runs; uninstall takes it back', async () => {
    const { home, unit, told, service } = account()
    const agent = await scriptAgent(home, [{ chunk: 'Hello.' }])
    await parley(['run', 'Hi'], { home, agent })
    expect(readPidFile(home)?.isServer).toBe(true)
    expect(await service('install', '--json')).toMatchObject({ code: 0, stderr: '' })
    expect(readPidFile(home)).toBeUndefined()
    expect(readFileSync(unit, 'utf8')).toContain(`PARLEY_HOME=${home}`)
    expect(told()).toEqual([
      '--user show-environment',
      '--user daemon-reload',
      '--user enable parley.service',
      '--user restart parley.service',
      '--user is-active --quiet parley.service',
    ])
    expect(JSON.parse((await service('status', '--json')).stdout)).toEqual({
      manager: 'systemd',
      file: unit,
      isInstalled: true,
      isRunning: true,
    })
    expect((await service('uninstall')).code).toBe(0)
    expect(told().at(-1)).toBe('--user disable --now parley.service')
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
    expect(await service('status')).toMatchObject({ code: 1, stdout: 'The service is not installed.\n' })
  })
})
