import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { DESERTED, STUBBORN } from '../../../test/fixtures/process/owner.ts'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { carrying, commandOf, linesOf, running, runs, until } from '../../../test/fixtures/process/running.ts'
import { systemClock } from '../clock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, Processes, ProcessSpec } from '../../ports/process.ts'
import { keepUnread, openChild } from './child.ts'
import { openProcesses } from './open-processes.ts'
import { processGroup } from './process-group.ts'
import { abandon, exitOf } from './spawn.ts'

const opened = new PerTest<Processes>(async (all) => {
  await Promise.all(all.map((processes) => processes.close()))
})
opened.closeAfterEach()

function open(environment: Readonly<Record<string, string | undefined>> = process.env, clock: Clock = systemClock) {
  const boot = { home: 'test', id: systemClock.id() }
  const processes = openProcesses({ boot, environment, clock })
  opened.add(processes)
  return { processes, marker: `PARLEY_CHILD=test-${boot.id}` }
}

function shell(script: string, more: Partial<ProcessSpec> = {}): ProcessSpec {
  return { command: 'sh', args: ['-c', script], cwd: '/', env: {}, ...more }
}

const started = (...spec: Parameters<typeof shell>) => open().processes.spawn(shell(...spec))

/** While a process becomes its program, the kernel shows no environment. */
function untilDeserted(marker: string, pid: number): Promise<void> {
  return until(() => commandOf(pid) === 'sleep 1000' && carrying(marker).includes(pid))
}

async function textOf(child: Child): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

describe('a child', () => {
  test.concurrent('reads what is written, answers, and ends when its input ends', async () => {
    const child = await started('cat')
    await child.write(Buffer.from('hello\n'))
    expect(await linesOf(child.stdout)()).toBe('hello')
    await child.stop(60_000)
    expect(await child.exited).toEqual({ code: 0, signal: null })
  })

  test.concurrent('that ended at once has its whole output readable later', async () => {
    const child = await started('printf said; printf why >&2; exit 3')
    expect(await child.exited).toEqual({ code: 3, signal: null })
    await child.stderrRead
    expect(await textOf(child)).toBe('said')
    expect(child.stderrTail()).toBe('why')
  })

  test.concurrent('that ended before a busy server could notice its start has its whole output too', async () => {
    const program = spawn('sh', ['-c', 'printf said; printf why >&2'], { stdio: 'pipe', detached: true })
    const { stdin, stdout, stderr } = program
    keepUnread(stdout, stderr)
    const ended = exitOf(program)
    await ended
    // By then Node has thrown away what nothing waits to read.
    await systemClock.sleep(20)
    const tree = processGroup(Number(program.pid), { clock: systemClock, marker: 'none' })
    const started = { command: 'sh', tree, pid: Number(program.pid), ended, stdin, stdout, stderr }
    const child = openChild(started, { clock: systemClock, onGone: () => undefined })
    await child.stderrRead
    expect([await textOf(child), child.stderrTail()]).toEqual(['said', 'why'])
  })

  test.concurrent('has its last stderr lines, also those that arrive after its exit', async () => {
    const patient = { ...systemClock, setTimer: () => ({ cancel: () => undefined }) }
    // Its child ends it, and learns from its input that the exit was noticed.
    const last = `exec 5<&0; setsid sh -c 'kill $PPID; read -r _ <&5; echo why >&2' & wait`
    const child = await open(process.env, patient).processes.spawn(shell(last))
    await child.stderrRead
    expect(child.stderrTail()).toBe('why\n')
  })

  test.concurrent('whose stderr another process holds open is not waited for without limit', async () => {
    const child = await started(`setsid sh -c 'echo why >&2; kill $PPID; exec sleep 1000' & wait`)
    await child.stderrRead
    expect(child.stderrTail()).toBe('why\n')
    await child.stop()
  })

  test.concurrent('leads a process group of its own and starts in the given directory', async () => {
    const child = await started('ps -o pgid= -p $$ | tr -d " "; pwd', { cwd: '/usr' })
    const line = linesOf(child.stdout)
    expect([await line(), await line()]).toEqual([String(child.pid), '/usr'])
  })

  test.concurrent('gets the allow-listed environment, its own variables and the marker, and no secret of Parley [S12 G11]', async () => {
    const { processes, marker } = open({
      HOME: '/home/sam',
      PATH: process.env.PATH,
      LC_ALL: 'C.UTF-8',
      XDG_STATE_HOME: '/state',
      https_proxy: 'http://proxy:8080',
      TERM: '() { echo trap; }',
      OPENAI_API_KEY: 'sentinel-secret',
      PARLEY_DOCS_KEY: 'sentinel-secret',
      NODE_OPTIONS: '--max-old-space-size=64',
    })
    const child = await processes.spawn({ command: 'env', args: [], cwd: '/', env: { TOKEN: 'for it = only\nit' } })
    const own = ['TOKEN=for it = only', 'it', `${marker}-1`, 'PWD=/', '']
    const allowed = ['HOME=/home/sam', 'LC_ALL=C.UTF-8', `PATH=${process.env.PATH}`, 'XDG_STATE_HOME=/state']
    const all = [...own, ...allowed, 'https_proxy=http://proxy:8080']
    expect((await textOf(child)).split('\n').sort()).toEqual(all.sort())
  })

  test.concurrent('may write ten megabytes to stderr without blocking; the end of it is kept [S2]', async () => {
    const child = await started('yes xxx | head -c 10485760 >&2; printf 火 >&2; echo done')
    expect(await linesOf(child.stdout)()).toBe('done')
    await child.stderrRead
    expect(child.stderrTail()).toMatch(/^(?:\nxxx){1000,}\n火$/)
    expect(Buffer.byteLength(child.stderrTail())).toBeLessThanOrEqual(4096)
  })

  test.concurrent('is quoted from the start of a word, for half a word could be the end of a secret', async () => {
    const child = await started('echo "secret-$(head -c 4090 /dev/zero | tr "\\0" x) end" >&2')
    await child.stderrRead
    expect(child.stderrTail()).toBe(' end\n')
  })

  test.concurrent('whose output is not read is paused, and loses nothing', async () => {
    const child = await started('head -c 3000000 /dev/zero; echo end >&2')
    await until(() => runs(child.pid))
    let size = 0
    for await (const chunk of child.stdout) size += chunk.length
    expect(size).toBe(3_000_000)
  })

  test.concurrent('that does not read blocks its writer until it ends, and then the write fails', async () => {
    const child = await started('sleep 1000')
    const written = child.write(Buffer.alloc(4_000_000))
    const state = await Promise.race([written.then(() => 'taken'), systemClock.sleep(100).then(() => 'waiting')])
    expect(state).toBe('waiting')
    const outcome = written.catch((error: unknown) => error)
    await child.stop(0)
    expect(await outcome).toMatchObject({ code: 'PROCESS_GONE' })
    await expect(child.write(Buffer.from('late'))).rejects.toThrow(/^sh has ended \(signal SIGTERM\)/)
  })

  test.concurrent('that closes its input fails the write with PROCESS_GONE', async () => {
    const child = await started('exec <&-; echo closed; sleep 1000')
    await linesOf(child.stdout)()
    await expect(child.write(Buffer.alloc(1_000_000))).rejects.toMatchObject({ code: 'PROCESS_GONE' })
  })
})

describe('stopping', () => {
  test.concurrent('ends a child that ignores the end of its input and SIGTERM, and its grandchild', async () => {
    const child = await started(STUBBORN)
    const grandchild = Number(await linesOf(child.stdout)())
    expect(runs(grandchild)).toBe(true)
    await Promise.all([child.stop(50), child.stop(50)])
    expect([runs(child.pid), runs(grandchild)]).toEqual([false, false])
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test.concurrent('sends SIGTERM at once where closing its input is not awaited', async () => {
    const child = await started('echo up; exec sleep 1000')
    await linesOf(child.stdout)()
    // Waiting for the child to read its input would take longer than this test may.
    await child.stop(600_000, 0)
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' })
  })

  test.concurrent('sends SIGTERM before SIGKILL [S3]', async () => {
    const child = await started('trap "exit 7" TERM; echo up; while :; do sleep 0.01; done')
    await linesOf(child.stdout)()
    // On a busy machine the shell may take its time.
    await child.stop(60_000, 50)
    expect(await child.exited).toEqual({ code: 7, signal: null })
  })

  test.concurrent('ends the rest of the group when its leader ends by itself', async () => {
    const child = await started('sleep 1000 & echo $!; exit 0')
    const grandchild = Number(await linesOf(child.stdout)())
    await child.exited
    await until(() => !runs(grandchild))
  })

  test.concurrent('one child ends its processes that left the group too, and none of the others', async () => {
    const { processes, marker } = open()
    const [child, other] = await Promise.all([processes.spawn(shell(DESERTED)), processes.spawn(shell(DESERTED))])
    const deserter = Number(await linesOf(child.stdout)())
    const stays = Number(await linesOf(other.stdout)())
    await untilDeserted(marker, deserter)
    await child.stop(50)
    await until(() => !runs(deserter))
    expect([runs(other.pid), runs(stays)]).toEqual([true, true])
  })

  test.concurrent('everything ends processes that left their group too, and the guard', async () => {
    const { processes, marker } = open()
    const child = await processes.spawn(shell(DESERTED))
    const deserter = Number(await linesOf(child.stdout)())
    await untilDeserted(marker, deserter)
    await processes.close()
    expect(carrying(marker)).toEqual([])
    expect(running(marker)).toEqual([])
    await expect(processes.spawn(shell('true'))).rejects.toMatchObject({ code: 'PROCESS_SPAWN' })
  })

  test('fifty children leaves no process and no descriptor', async () => {
    const { processes, marker } = open()
    await (await processes.spawn(shell('true'))).stop()
    const before = readdirSync('/proc/self/fd').length
    for (let round = 0; round < 10; round++) {
      const children = await Promise.all(Array.from({ length: 5 }, () => processes.spawn(shell('cat'))))
      await Promise.all(children.map((child) => child.stop(5000)))
    }
    await until(() => readdirSync('/proc/self/fd').length <= before)
    expect(carrying(marker)).toEqual([])
  })
})

describe('a start', () => {
  test.concurrent('of a missing command is reported', async () => {
    const { processes } = open()
    for (const command of ['no-such-command', '/no/such/file', '']) {
      const spec = { command, args: [], cwd: '/', env: {} }
      await expect(processes.spawn(spec)).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
    }
  })

  test.concurrent('of a file that is not executable is reported', async () => {
    const env = { PATH: newDirectory({ tool: 'data' }) }
    for (const command of ['tool', '/usr']) {
      const start = open().processes.spawn({ command, args: [], cwd: '/', env })
      await expect(start).rejects.toMatchObject({ code: 'COMMAND_NOT_EXECUTABLE' })
    }
  })

  test.concurrent('uses the PATH of the child', async () => {
    const folder = newDirectory()
    writeFileSync(join(folder, 'only-here'), '#!/bin/sh\necho "found $1"\n', { mode: 0o755 })
    const spec = { command: 'only-here', args: ['$(it) "s"'], cwd: '/', env: { PATH: `/nowhere:${folder}:/bin` } }
    expect(await textOf(await open().processes.spawn(spec))).toBe('found $(it) "s"\n')
  })

  test.concurrent('in a missing directory is reported', async () => {
    const started = open().processes.spawn(shell('true', { cwd: '/no/such/directory' }))
    await expect(started).rejects.toThrow('/no/such/directory is not a directory')
  })

  test.concurrent('with a variable that no shell can pass on is refused, and its value is not quoted', async () => {
    const started = open().processes.spawn(shell('true', { env: { 'my.key': 'sentinel-secret' } }))
    await expect(started).rejects.toThrow(/"my\.key" has a name/)
    await expect(started).rejects.not.toThrow(/sentinel/)
  })

  test.concurrent('that is cancelled leaves nothing behind', async () => {
    const { processes, marker } = open()
    const abort = new AbortController()
    const started = processes.spawn(shell('sleep 1000'), abort.signal)
    abort.abort(new Error('enough'))
    await expect(started).rejects.toMatchObject({ code: 'PROCESS_SPAWN' })
    expect(carrying(marker)).toEqual([])
  })

  test.concurrent('whose cancel came before the news that it runs is asked to end, and may put things in order', async () => {
    const spec = shell(`trap 'sleep 0.1; echo in order; exit' TERM; echo up; while :; do sleep 0.05; done`)
    // Its time to end is never over: on a busy machine it may take long to put things in order.
    const never = { cancel: () => undefined }
    const setTimer: Clock['setTimer'] = (ms, run) => (ms > 0 ? never : systemClock.setTimer(ms, run))
    const child = await open(process.env, { ...systemClock, setTimer }).processes.spawn(spec)
    const line = linesOf(child.stdout)
    expect(await line()).toBe('up')
    const last = line()
    await expect(abandon(child, spec, undefined)).rejects.toMatchObject({ code: 'PROCESS_SPAWN' })
    expect(await last).toBe('in order')
  })
})

const owner = new URL('../../../test/fixtures/process/owner.ts', import.meta.url).pathname

test.concurrent('when the server dies of kill -9, no process that it started survives: none that ignores SIGTERM, left its group or dropped the marker [S5]', async () => {
  const id = systemClock.id()
  const args = ['--import', 'tsx', owner, 'home', id]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const pids = JSON.parse(await linesOf(server.stdout)()) as readonly number[]
  expect(pids).toHaveLength(8)
  expect(pids.filter((pid) => !runs(pid))).toEqual([])
  server.kill('SIGKILL')
  await once(server, 'exit')
  await until(() => !pids.some(runs) && carrying(`PARLEY_CHILD=home-${id}`).length === 0)
  await until(() => running(id).length === 0)
})
