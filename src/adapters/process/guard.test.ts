import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { carrying, commandOf, linesOf, parentOf } from '../../../test/fixtures/process/running.ts'
import { running, runs, stateOf, until } from '../../../test/fixtures/process/running.ts'
import type { Clock } from '../../ports/clock.ts'
import { systemClock } from '../clock.ts'
import { openGuard } from './guard.ts'
import { openProcesses } from './open-processes.ts'

const crowded = new URL('../../../test/fixtures/process/crowded.ts', import.meta.url).pathname
const late = new URL('../../../test/fixtures/process/late.ts', import.meta.url).pathname
const children = new PerTest<ChildProcess>(async (opened) => opened.forEach((child) => child.kill('SIGKILL')))
children.closeAfterEach()

/** Of the processes of these tests, where the same tests may run more than once on a machine. */
const MINE = `guard${process.pid}`

/** Seconds that nothing else on this machine sleeps. */
const LONG = `1001.${process.pid}`

const guarding = (name: string) => openGuard({ marker: `${MINE}-${name}`, path: process.env.PATH, clock: systemClock })
const ofGuard = (name: string) => running(`PARLEY_CHILD=${MINE}-${name}`)
const opened = (id: string, more: Partial<Parameters<typeof openProcesses>[0]> = {}) =>
  openProcesses({ boot: { home: MINE, id }, environment: process.env, clock: systemClock, ...more })

const SLEEPER = { command: 'sleep', args: ['1000'], cwd: '/', env: {} }

async function startedByHand(script: string, channel: Writable) {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore', channel] })
  children.add(child)
  const lines = linesOf(child.stdout as Readable)
  return { child, line: await lines(), lines }
}

describe.concurrent('the guard', () => {
  test('ends a child that has registered but not yet executed its program', async () => {
    const guard = guarding('window')
    const script = 'echo "+$$" >&3; echo registered; exec 3>&-; while :; do sleep 1; done'
    const { child } = await startedByHand(script, await guard.channel())
    const ended = once(child, 'exit')
    await guard.close()
    expect((await ended)[1]).toBe('SIGTERM')
  })

  test('that was closed refuses a child before it executes its program', async () => {
    const guard = guarding('late')
    const script = 'echo before; while echo "#" >&3; do sleep 0.01; done'
    const { child } = await startedByHand(script, await guard.channel())
    const ended = once(child, 'exit')
    await guard.close()
    expect((await ended)[1]).toBe('SIGPIPE')
  })

  test('ends a child that is about to execute its program when the server is killed', async () => {
    const args = ['--import', 'tsx', late, `${MINE}-killed`]
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.add(server)
    const child = Number(await linesOf(server.stdout)())
    server.kill('SIGKILL')
    await once(server, 'exit')
    await until(() => stateOf(child) === 'T')
    process.kill(child, 'SIGCONT')
    await until(() => !runs(child) && running(`${MINE}-killed`).length === 0)
  })

  test('that cannot start for lack of descriptors fails, and affects no other child', async () => {
    const script = 'ulimit -n 100 && exec "$0" --import tsx "$1"'
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, process.execPath, crowded])
    expect(stdout.trim().split('\n')).toEqual([
      'started',
      'sleep could not be started: no guard could be started (spawn /bin/sh EMFILE).',
      'started',
    ])
  })

  test('does not touch a process group that was unregistered', async () => {
    const guard = guarding('forget')
    const { child } = await startedByHand('echo "+$$" >&3; exec 3>&-; echo up; exec sleep 1000', await guard.channel())
    const pid = child.pid as number
    guard.remember(pid)
    guard.forget(pid)
    await guard.close()
    expect(runs(pid)).toBe(true)
  })

  test('stops its groups, and what has left them, when it is no more renewed; a group that comes then too; all go on when it is', async () => {
    let renew: (ms: number) => void = () => undefined
    const processes = opened('lease', { whenRenewed: (listener) => (renew = listener) })
    const child = await processes.spawn({ ...SLEEPER, command: 'sh', args: ['-c', `setsid sleep ${LONG} & wait`] })
    const away = () => running(`sleep\u0000${LONG}`)[0] ?? 0
    await until(() => runs(away()))
    const states = (...pids: readonly number[]) => pids.map(stateOf).join('')
    renew(1)
    await until(() => states(child.pid, away()) === 'TT')
    const late = processes.spawn(SLEEPER)
    await until(() => carrying(`PARLEY_CHILD=${MINE}-lease-2`).some((pid) => stateOf(pid) === 'T'))
    renew(60_000)
    await until(() => states(child.pid, away()) === 'SS')
    const { pid } = await late
    // It may still be becoming its program.
    await until(() => stateOf(pid) === 'S')
    renew(1)
    await until(() => states(child.pid, away()) === 'TT')
    await processes.close()
    expect(carrying(`PARLEY_CHILD=${MINE}-lease`)).toEqual([])
  })

  test('renewed often has one timer and no zombie, and once it has ended neither', async () => {
    const guard = guarding('timer')
    await guard.channel()
    const shell = ofGuard('timer')[0] ?? 0
    const sleeps = () => {
      const all = running('sleep\u000070.0').filter((pid) => commandOf(parentOf(pid)).includes(`${MINE}-timer`))
      return all.map(commandOf)
    }
    for (let ms = 70_001; ms <= 70_010; ms++) guard.renew(ms)
    await until(() => sleeps().includes('sleep 70.010'))
    expect(sleeps()).toEqual(['sleep 70.010'])
    const states = async () => {
      const { stdout } = await promisify(execFile)('ps', ['--ppid', String(shell), '-o', 'stat='])
      return stdout.trim()
    }
    // The timer waits for its sleep as soon as it has a processor.
    await until(async () => /^S\w*$/u.test(await states()))
    await guard.close()
    expect(sleeps()).toEqual([])
  })

  test('that was killed and is not awaited leaves no timer', async () => {
    const code = `
      import { systemClock } from ${JSON.stringify(new URL('../clock.ts', import.meta.url).pathname)}
      import { openGuard } from ${JSON.stringify(new URL('guard.ts', import.meta.url).pathname)}
      const guard = openGuard({ marker: '${MINE}-unawaited', path: process.env.PATH, clock: systemClock })
      await guard.channel()
      guard.renew(2_000)
      setInterval(() => undefined, 1_000)`
    const server = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { stdio: 'ignore' })
    children.add(server)
    const ofGuard = () => running(`parley-guard\u0000PARLEY_CHILD=${MINE}-unawaited`)
    const isTimed = () => running('sleep\u00002.000').some((pid) => ofGuard().includes(parentOf(pid)))
    await until(isTimed)
    const shell = ofGuard().find((pid) => parentOf(pid) === server.pid) ?? 0
    server.kill('SIGSTOP')
    await until(() => stateOf(server.pid ?? 0) === 'T')
    process.kill(shell, 'SIGKILL')
    await until(() => stateOf(shell) === 'Z')
    await until(() => ofGuard().length === 0)
    expect(stateOf(shell)).toBe('Z')
  })

  test('that replaces one that stopped its groups lets them go on only when they may', async () => {
    const guard = guarding('lapse')
    guard.renew(60_000)
    const { child, lines } = await startedByHand(
      // One that starts processes may be stopped while it waits for one of them to become its program, and then its state is not T.
      'trap "echo on" CONT; echo "+$$" >&3; exec 3>&-; sleep 1000 & echo up; while :; do wait; done',
      await guard.channel(),
    )
    const pid = child.pid as number
    guard.remember(pid)
    const shell = () => ofGuard('lapse').find((one) => parentOf(one) === process.pid)
    const replaced = async (whenDead: () => void) => {
      const before = shell() as number
      process.kill(before, 'SIGKILL')
      whenDead()
      await until(() => ![undefined, before].includes(shell()))
    }
    guard.renew(1)
    await until(() => stateOf(pid) === 'T')
    // Its lease is still over, and the next guard stops it again.
    await replaced(() => undefined)
    await replaced(() => guard.renew(60_000))
    expect(await lines()).toBe('on')
    await guard.close()
    await expect(lines()).rejects.toThrow('ended after ""')
  })

  test('ignores HUP, INT and TERM', async () => {
    const processes = opened('shrug')
    const child = await processes.spawn(SLEEPER)
    // It starts processes of its own name for a moment.
    const guard = ofGuard('shrug').find((pid) => parentOf(pid) === process.pid) ?? 0
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(guard, signal)
    // It handles its input in order, so once the next child is registered it has lived through the signals.
    await (await processes.spawn(SLEEPER)).stop(0)
    expect(runs(guard)).toBe(true)
    expect(runs(child.pid)).toBe(true)
    await processes.close()
  })

  test('whose death shows before its exit is noticed is replaced for the next child', async () => {
    const guard = guarding('died')
    await guard.channel()
    const first = ofGuard('died')[0] ?? 0
    process.kill(first, 'SIGKILL')
    // Without a turn of the event loop, which would tell of the exit.
    while (runs(first));
    guard.remember(first)
    guard.forget(first)
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const { child } = await startedByHand('echo "+$$" >&3; exec 3>&-; echo up; exec sleep 1000', await guard.channel())
    const ended = once(child, 'exit')
    await guard.close()
    expect((await ended)[1]).toBe('SIGTERM')
  })

  test('that dies while a child is starting does not prevent the start', async () => {
    // A guard that ended at once is replaced a fifth of a second later, which forty rounds need not wait for.
    const setTimer: Clock['setTimer'] = (ms, run) => systemClock.setTimer(ms === 200 ? 0 : ms, run)
    const processes = opened('dying', { clock: { ...systemClock, setTimer } })
    const keeper = await processes.spawn(SLEEPER)
    // The start takes some steps; killing the guard a little later each time meets it in each of them.
    for (let round = 0; round < 40; round++) {
      await until(() => ofGuard('dying').length === 1)
      const guard = ofGuard('dying')[0] ?? 0
      const starting = processes.spawn(SLEEPER)
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve))
      process.kill(guard, 'SIGKILL')
      const child = await starting
      expect([runs(child.pid), runs(keeper.pid)]).toEqual([true, true])
      await Promise.all([child.stop(0), until(() => !runs(guard))])
    }
    await processes.close()
    expect(carrying(`PARLEY_CHILD=${MINE}-dying`)).toEqual([])
  })
})
