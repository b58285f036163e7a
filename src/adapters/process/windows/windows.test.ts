/** Windows by injected facts: what is decided is tested here, real children run, and what Windows does with it is not. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { linesOf } from '../../../../test/fixtures/process/running.ts'
import { systemClock } from '../../clock.ts'
import type { Processes } from '../../../ports/process.ts'
import { commandLine } from './command-line.ts'
import { windowsEnvironment } from './environment.ts'
import { findCommand } from './find-command.ts'
import { type WindowsSystem, windowsProcesses } from './windows-processes.ts'

describe('a command', () => {
  const there = [
    'C:\\bin\\npx.cmd',
    'C:\\bin\\npx',
    'D:\\work\\tool.exe',
    'D:\\work\\npx.exe',
    '\\\\host\\tools\\git.exe',
  ]
  const isFile = async (path: string) => there.some((file) => file.toLowerCase() === path.toLowerCase())
  const find = (command: string, path = 'tools;C:\\bin;.;\\\\host\\tools', extensions = '.COM;.EXE;.JS;.CMD') =>
    findCommand({ command, cwd: 'D:\\work', path, extensions }, isFile)

  test.each([
    ['npx', 'C:\\bin\\npx.cmd'],
    ['npx.CMD', 'C:\\bin\\npx.CMD'],
    ['.\\tool', 'D:\\work\\tool.exe'],
    ['D:/work/tool.exe', 'D:\\work\\tool.exe'],
    ['git', '\\\\host\\tools\\git.exe'],
  ])('%s is %s', async (command, file) => expect(await find(command)).toBe(file))

  test.each(['tool', 'C:\\bin\\npx.js', ''])('%j is not found, for no such program can be started', (command) =>
    expect(find(command)).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' }),
  )
})

describe('a command line', () => {
  const systemRoot = 'C:\\Windows'

  test('of a program is quoted by Node', () => {
    const args = ['a "b"', '%PATH%']
    expect(commandLine({ file: 'C:\\x.exe', args, systemRoot })).toEqual({ file: 'C:\\x.exe', args, isVerbatim: false })
  })

  test('of a batch file goes through cmd.exe, with each word in quotes', () => {
    const args = ['a & b', '^|<>(!)', 'C:\\dir\\', '']
    expect(commandLine({ file: 'C:\\my tools\\npx.CMD', args, systemRoot })).toEqual({
      file: 'C:\\Windows\\System32\\cmd.exe',
      args: ['/d', '/v:off', '/s', '/c', '""C:\\my tools\\npx.CMD" "a & b" "^|<>(!)" "C:\\dir\\\\" """'],
      isVerbatim: true,
    })
  })

  test.each(['say "hi"', '%PATH%', 'two\nlines', 'two\rlines', 'a\0b'])('of a batch file is refused with %j', (word) =>
    expect(() => commandLine({ file: 'C:\\x.bat', args: [word], systemRoot })).toThrow('is a batch file'),
  )
})

test('an environment has what programs need, each name once, and no entry of PATH that a project could fill', () => {
  const ours = { Path: 'C:\\bin;.;tools;"D:\\my tools"', SystemRoot: 'C:\\Windows', API_KEY: 'secret', lang: 'en' }
  expect(windowsEnvironment(ours, { added: { Lang: 'de', OWN: '1' }, marker: 'm' })).toEqual({
    PATH: 'C:\\bin;D:\\my tools',
    SYSTEMROOT: 'C:\\Windows',
    LANG: 'de',
    OWN: '1',
    PARLEY_CHILD: 'm',
  })
})

const opened: Processes[] = []
afterEach(async () => {
  for (const processes of opened.splice(0)) await processes.close()
})

/** Node runs `script` for every command; taskkill with `/F` kills, and without it does as little as to a console program. */
function open(script: string) {
  const taskkillFlags: string[] = []
  const system: WindowsSystem = {
    isFile: async (path) => path === 'C:\\bin\\agent.exe',
    start: (_line, { cwd, env }) => spawn(process.execPath, ['-e', script], { cwd, env, stdio: 'pipe' }),
    taskkill(_root, [, pid, ...flags]) {
      taskkillFlags.push(flags.join(' '))
      if (flags.includes('/F')) process.kill(Number(pid), 'SIGKILL')
    },
  }
  const boot = { home: 'test', id: systemClock.id() }
  const processes = windowsProcesses({ boot, environment: { Path: 'C:\\bin' }, clock: systemClock }, system)
  opened.push(processes)
  return { processes, taskkillFlags, spec: { command: 'agent', args: [], cwd: tmpdir(), env: {} } }
}

describe('a child', () => {
  test('answers, and ends with its input, without taskkill', async () => {
    const { processes, taskkillFlags, spec } = open('process.stdin.pipe(process.stdout)')
    const child = await processes.spawn(spec)
    await child.write(Buffer.from('hello\n'))
    expect(await linesOf(child.stdout)()).toBe('hello')
    await child.stop(60_000)
    expect(await child.exited).toEqual({ code: 0, signal: null })
    expect(taskkillFlags).toEqual([])
  })

  test('that does not end is asked by taskkill, then forced with all that is below it', async () => {
    const { processes, taskkillFlags, spec } = open('setInterval(() => {}, 1000)')
    const child = await processes.spawn(spec)
    await child.stop(1, 1)
    await child.exited
    expect(taskkillFlags).toEqual(['/T', '/T /F'])
  })

  test('starts in a directory that is there, and no more once the server stops', async () => {
    const { processes, spec } = open('')
    await expect(processes.spawn({ ...spec, cwd: '/not/there' })).rejects.toThrow('is not a directory')
    await processes.close()
    await expect(processes.spawn(spec)).rejects.toThrow('Parley is stopping')
  })
})
