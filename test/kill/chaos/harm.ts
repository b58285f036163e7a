/** What befalls a town: whoever is killed, stopped or cut off, and what is done to its files. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type Socket, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { carrying, pause, runs, signal, until } from '../../fixtures/process/running.ts'
import type { Chance } from '../../series/chance.ts'
import { type Town } from '../town.ts'
import type { Cast } from './cast.ts'
import type { Deed } from './plan.ts'
import type { Teller } from './teller.ts'

export interface Harm {
  readonly town: Town
  readonly cast: Cast
  readonly teller: Teller
  readonly chance: Chance
  readonly standMs: number
  /** Where the server looks for orders. */
  readonly orders: string
}

/** Says what is done at one moment, in turn: none of it waits for another but where files are harmed. */
export async function does(deed: Deed, harm: Harm): Promise<void> {
  await HARM[deed](harm)
}

const DAY = 86_400_000
/** More than any server of chaos has descriptors. */
const CROWD = 150
/** How often a disk is tried to be made read-only. */
const TRIES = 10

const HARM: Readonly<Record<Deed, (harm: Harm) => void | Promise<void>>> = {
  'kill the server': ({ town }) => end(town.server()),
  'end the journal thread': ({ orders }) => writeFileSync(join(orders, 'end the journal thread'), 'now'),
  // One that is only just dying would be asked once more.
  'kill a relay': async ({ cast, chance }) => void (await cast.relays[chance.between(0, 1)]?.kill()),
  'kill the follower': ({ cast }) => cast.follower.kill(),
  'kill the runner': ({ cast }) => void cast.runner.child.kill('SIGKILL'),
  'cut the raw client': ({ cast }) => cast.goer.cut(),
  'cut the network': async ({ town }) => (await town.door()).proxy.cut(),
  'freeze the network for a while': async ({ town, standMs }) => (await town.door()).proxy.freeze(standMs),
  'break the network at any byte': async ({ town, standMs }) => (await town.door()).proxy.fret(standMs),
  'kill the tools': ({ town }) => town.tools().forEach(end),
  'stop a relay for a while': ({ cast, chance, standMs }) =>
    stand(cast.relays[chance.between(0, 1)]?.child.pid, standMs),
  'stop the follower for a while': ({ cast, standMs }) => stand(cast.follower.pid, standMs),
  'stop the server for a while': ({ town, standMs }) => stand(town.server(), standMs),
  'move the clock': ({ orders, chance }) =>
    writeFileSync(join(orders, 'jump'), String(chance.between(-400, 400) * DAY + chance.between(0, 10_000))),
  'kill the agent': ({ teller }) => teller.processes().forEach(end),
  'stop the agent for a while': ({ teller, standMs }) => pause(teller.processes(), standMs),
  'cancel the turn': ({ cast }) => cast.cancel(),
  'garbage after the log': (harm) =>
    betweenServers(harm, (log) => appendFileSync(log, Buffer.alloc(harm.chance.between(1, 9_000), 0xa5))),
  'cut the log short': (harm) =>
    betweenServers(harm, (log) =>
      truncateSync(log, Math.floor((statSync(log).size * harm.chance.between(5, 95)) / 100)),
    ),
  'cut the file short': (harm) =>
    betweenServers(harm, (_log, file) =>
      truncateSync(file, Math.floor((statSync(file).size * harm.chance.between(5, 95)) / 100)),
    ),
}

/** Nobody may start another server while the files of the last one are harmed. */
async function betweenServers({ town }: Harm, harm: (log: string, file: string) => void): Promise<void> {
  const server = town.server()
  const others = carrying(`PARLEY_HOME=${town.home}`).filter((pid) => pid !== server)
  for (const pid of others) signal(pid, 'SIGSTOP')
  try {
    end(server)
    if (server !== undefined) await until(() => !runs(server))
    const file = join(town.home, 'journal.db')
    if (existsSync(`${file}-wal`)) harm(`${file}-wal`, file)
  } catch (error) {
    // What is full or read-only by now cannot be harmed either.
    if (!['EROFS', 'EPERM', 'ENOSPC'].includes(String((error as NodeJS.ErrnoException).code))) throw error
  } finally {
    for (const pid of others) signal(pid, 'SIGCONT')
  }
}

function end(pid: number | undefined): void {
  if (pid !== undefined) signal(pid, 'SIGKILL')
}

async function stand(pid: number | undefined, ms: number): Promise<void> {
  if (pid !== undefined) await pause([pid], ms)
}

/** So many more files as it has open may a process open, or as many as before; false where nobody can say so. */
export function limitFiles(pid: number, more: number | 'as before'): boolean {
  try {
    const open = readdirSync(`/proc/${pid}/fd`).length
    const hard = /^Max open files +\d+ +(\d+)/mu.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    const soft = more === 'as before' ? hard : open + more
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:${hard}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** More come than a server has descriptors for, and come again when they are let go; after a while they leave. */
export async function crowd({ socket }: Town, ms: number): Promise<void> {
  const sockets = new Set<Socket>()
  let isOver = false
  const come = (): void => {
    // Whoever was just turned away must not come back when it is over, and stay.
    if (isOver) return
    const one = connect(socket).on('error', () => undefined)
    sockets.add(one)
    one.once('close', () => {
      sockets.delete(one)
      setTimeout(come, 20)
    })
  }
  for (let n = 0; n < CROWD; n += 1) come()
  await sleep(ms)
  isOver = true
  for (const one of sockets) one.destroy()
}

/** The server dies, and whoever starts the next one finds that nothing can be written there; after a while it can. */
export async function freeze(harm: Harm, ms: number): Promise<void> {
  const { home } = harm.town
  const frozen: true[] = []
  for (let n = 0; frozen.length === 0 && n < TRIES; n += 1)
    await betweenServers(harm, () => {
      if (remount(home, 'ro')) frozen.push(true)
    })
  await sleep(ms)
  remount(home, 'rw')
}

/** False while somebody has a file open for writing: the next server was faster. */
function remount(home: string, how: 'ro' | 'rw'): boolean {
  try {
    execFileSync('mount', ['-o', `remount,${how}`, home], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Nothing may be written to what the server has open, nor beside it; after a while it may. False where that cannot be done. */
export async function stiffen({ home }: Town, ms: number): Promise<boolean> {
  const files = ['journal.db', 'journal.db-wal', 'journal.db-shm'].map((name) => join(home, name)).filter(existsSync)
  try {
    if (!attribute('+i', [...files, home])) return false
    await sleep(ms)
    return true
  } finally {
    attribute('-i', [home, ...files])
  }
}

/** Only root may, and only some file systems know it. */
function attribute(how: '+i' | '-i', paths: readonly string[]): boolean {
  try {
    execFileSync('chattr', [how, ...paths], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Nothing is left on the disk; after a while somebody makes room. */
export async function fill({ home }: Town, ms: number): Promise<void> {
  const ballast = join(home, 'ballast')
  const { bavail, bsize } = statfsSync(home)
  try {
    if (bavail > 0) appendFileSync(ballast, Buffer.alloc(bavail * bsize))
    await sleep(ms)
  } catch {
    // The server was faster, and the disk is as full as it can be.
  } finally {
    rmSync(ballast, { force: true })
  }
}
