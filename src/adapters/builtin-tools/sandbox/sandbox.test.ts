/**
 * Commands in the sandbox: the files and networks that they can write, see and reach, that no process remains, and the
 * behaviour where no sandbox can be made.
 */
import { chmodSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'
import { TestClock } from '../../../../test/sim/clock.ts'
import { systemClock } from '../../clock.ts'
import { openProcesses } from '../../process/open-processes.ts'
import { ProgramFinder } from '../../../config/own-programs.ts'
import { CommandSandbox, type SandboxSettings } from './sandbox.ts'

let stage: Stage | undefined
/** Whether this machine lets bubblewrap make namespaces. Where not, each test shows that the command is refused instead. */
let isPossible = false

beforeAll(async () => {
  stage = await openStage({ sandbox: { mode: 'on' } })
  const said = await stage.say('run_command', { command: 'echo inside' })
  isPossible = said === 'inside'
  if (!isPossible) console.log(`no sandbox can be made here, so its refusal is tested: ${said}`)
  await stage.close()
})
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

async function inside(settings: Partial<SandboxSettings> = {}): Promise<Stage> {
  stage = await openStage({ files: { 'a.txt': 'A', '.git/hooks/x': '' }, sandbox: { mode: 'on', ...settings } })
  return stage
}

/** What the command said; where no sandbox can be made, that it was refused. */
async function said(here: Stage, command: string, expected: string): Promise<void> {
  const answer = await here.say('run_command', { command })
  if (isPossible) expect([command, answer]).toEqual([command, expected])
  else expect(answer).toMatch(/^Error: The command was not run: the setting command_sandbox is on/u)
}

describe('a command in the sandbox', () => {
  test('writes in the directories of the session and nowhere else', async () => {
    const here = await inside()
    const beside = newDirectory()
    await said(here, 'cat a.txt; echo B > b.txt; cat b.txt', 'AB')
    await said(here, 'echo x 2>/dev/null >/etc/parley-x || echo no', 'no')
    await said(here, `echo x 2>/dev/null >${beside}/x || echo no`, 'no')
    await said(here, 'echo x 2>/dev/null > .git/hooks/pre-commit || echo no', 'no')
    await said(here, 'echo x > /tmp/parley-x && cat /tmp/parley-x', 'x')
    await said(here, 'cat /tmp/parley-x 2>/dev/null || echo gone', 'gone')
    expect(readdirSync(beside)).toEqual([])
    expect(existsSync('/tmp/parley-x')).toBe(false)
    expect(existsSync(here.path('b.txt'))).toBe(isPossible)
  })

  test('cannot change files that git or Parley executes outside', async () => {
    const config = '[core]\nhooksPath = tools/hooks\n'
    const files = { '.git/config': config, '.git/HEAD': '', '.parley.toml': '', 'tools/hooks/x': '', 'tools/a': '' }
    stage = await openStage({ files, sandbox: { mode: 'on' } })
    const attempts = ['echo x >> .git/config', 'echo x > .git/hooks', 'echo x > .git/commondir', 'mv .git other']
    for (const attempt of [...attempts, 'echo x > .parley.toml', 'rm .parley.toml', 'echo x > tools/hooks/pre-commit'])
      await said(stage, `(${attempt}) 2>/dev/null || echo no`, 'no')
    await said(stage, 'echo x > tools/a && cat tools/a .git/config', `x\n${config.trim()}`)
  })

  test('cannot change a git directory that a file of its work tree names', async () => {
    const files = { '.git': 'gitdir: store/of-tree\n', 'store/of-tree/commondir': '../all\n', 'store/all/config': '' }
    stage = await openStage({ files, sandbox: { mode: 'on' } })
    for (const path of ['.git', 'store/of-tree/config.worktree', 'store/all/config', 'store/all/hooks'])
      await said(stage, `(echo x > ${path}) 2>/dev/null || echo no`, 'no')
  })

  test('leaves no mount point behind in the directory', async () => {
    stage = await openStage({ files: { 'a.txt': 'A' }, sandbox: { mode: 'on' } })
    await said(stage, 'ls -A', 'a.txt')
    expect(readdirSync(stage.dir)).toEqual(['a.txt'])
  })

  test('sees neither hidden paths nor the processes outside', async () => {
    const outside = newDirectory({ 'state/docs.key': 'sentinel-key', 'secret.toml': 'sentinel-file' })
    const state = join(outside, 'state')
    const here = await inside({ hidden: [state, join(outside, 'secret.toml'), join(outside, 'none')] })
    const roots = [here.dir, outside]
    const answer = await here.call('run_command', { command: `cat ${state}/* ${outside}/secret.toml` }, { roots })
    expect(JSON.stringify(answer)).not.toContain('sentinel')
    await said(here, `[ -e /proc/${process.pid}/environ ] && [ "$(cat /proc/1/comm)" != bwrap ] || echo own`, 'own')
  })

  test('reaches the network only where that is allowed', async () => {
    const server = createServer((socket) => void socket.end('reached\n'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    const connect = `${process.execPath} -e "require('net').connect(${port},'127.0.0.1').on('data',(d)=>process.stdout.write(d)).on('error',()=>console.log('none'))"`
    await said(await inside({ network: true }), connect, 'reached')
    await stage?.close()
    await said(await inside({ network: false }), connect, 'none')
    server.close()
  })

  test('returns its exit status, and leaves no process behind, also none that left its group', async () => {
    const here = await inside()
    await said(here, 'echo x; exit 3', 'Error: x\n[Exit code 3.]')
    await said(here, `env -i setsid sleep ${LONG} & echo begun`, 'begun')
    await expect.poll(sleeping).toEqual([])
  })

  test('ends with all its processes when it is cancelled', async () => {
    const here = await inside()
    const abort = new AbortController()
    const command = `env -i setsid sleep ${LONG} & echo begun; sleep ${LONG}`
    const call = here.call('run_command', { command }, { signal: abort.signal })
    if (isPossible) await expect.poll(() => sleeping().length).toBe(2)
    abort.abort()
    await call
    await expect.poll(sleeping).toEqual([])
  })

  test('never runs in a terminal of the client, which is outside', async () => {
    const here = await inside()
    const create = () => Promise.reject(new Error('was asked for a terminal'))
    here.client = { ...here.client, terminals: { create } }
    await said(here, 'echo a', 'a')
  })
})

/** Seconds that nothing else on this machine sleeps. */
const LONG = `300.${process.pid}`

/** By their command line, whatever they have thrown away. */
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

describe('without a usable sandbox', () => {
  function pathWith(script: string | undefined): string {
    const directory = newDirectory(script === undefined ? {} : { bwrap: `#!/bin/sh\n${script}\n` })
    if (script !== undefined) chmodSync(join(directory, 'bwrap'), 0o755)
    return directory
  }

  test.each([
    ['without bubblewrap', undefined, 'bubblewrap (bwrap) is not installed'],
    ['without namespaces', 'echo "No permissions to create new namespace" >&2; exit 1', 'No permissions to create'],
  ])('%s, `on` refuses every command and `auto` runs it', async (_how, script, reason) => {
    const environment = { ...process.env, PATH: pathWith(script) }
    stage = await openStage({ environment, sandbox: { mode: 'on' } })
    for (const background of [false, true]) {
      const answer = await stage.say('run_command', { command: 'echo ran > ran', background })
      expect(answer).toContain('Error: The command was not run: the setting command_sandbox is on')
      expect(answer).toContain(reason)
    }
    expect(existsSync(stage.path('ran'))).toBe(false)
    await stage.close()
    stage = await openStage({ environment, sandbox: { mode: 'auto' } })
    expect(await stage.say('run_command', { command: 'echo ran' })).toBe('ran')
  })

  test('a bubblewrap that hangs is given up', async () => {
    const path = pathWith('exec sleep 1000')
    const clock = new TestClock()
    const boot = { home: 'sandbox', id: systemClock.id() }
    const processes = openProcesses({ boot, environment: { PATH: `${path}:/bin` }, clock: systemClock })
    const services = { clock, processes, programs: new ProgramFinder(path) }
    const trial = new CommandSandbox({ mode: 'on', network: false, hidden: [] }, services).try()
    let found: object | undefined
    void trial.then((result) => (found = result))
    await expect.poll(async () => (await clock.advance(20_000), found)).toBeDefined()
    expect(found).toEqual({ reason: `${join(path, 'bwrap')} did not end within 20 seconds` })
    await processes.close()
  })

  test('a bubblewrap inside the project is not used', async () => {
    stage = await openStage({ files: { bwrap: '#!/bin/sh\n: > ran\n' }, sandbox: { mode: 'on' } })
    chmodSync(stage.path('bwrap'), 0o755)
    const { dir } = stage
    const other = new Stage(dir, { environment: { ...process.env, PATH: `.:${dir}` }, sandbox: { mode: 'on' } })
    expect(await other.say('run_command', { command: 'echo a' })).toContain('The command was not run')
    await other.release()
    expect(existsSync(stage.path('ran'))).toBe(false)
  })
})
