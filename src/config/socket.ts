/**
 * Where the server of a state directory listens: beside its journal, or in a private directory when that path is too long. On
 * Windows it is a named pipe.
 */
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fail } from '../errors/parley-error.ts'

const PIPES = '\\\\.\\pipe\\'

/** Bytes that every system takes as the path of a socket, with room for the name under which it is made. */
const MAX_PATH_BYTES = 100

/** `home` is absolute. Client and server come to the same path by themselves. */
export function socketPathOf(home: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return pipeOf(home)
  const beside = join(home, 'server.sock')
  return fits(beside) ? beside : elsewhere(home)
}

/** One name for each directory, which Windows finds in any case and with either slash. */
function pipeOf(home: string): string {
  return `${PIPES}parley-${hashOf(home.replaceAll('/', '\\').replace(/\\+$/u, '').toLowerCase())}`
}

/** Whether this is the name of a pipe of Windows instead of a path. */
export function isPipe(socket: string): boolean {
  return socket.startsWith(PIPES)
}

/** Descriptors below this one are standard input, output and errors (sd_listen_fds(3)). */
const FIRST_PASSED = 3

/** The descriptor of a socket that systemd already listens on and has passed to this process; undefined where it has not. */
export function passedSocket(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const { LISTEN_PID: pid, LISTEN_FDS: count } = environment
  return pid === String(process.pid) && Number(count) >= 1 ? FIRST_PASSED : undefined
}

/** Throws SOCKET_UNUSABLE where another user could have made the directory of the socket; `make` creates it for a server. */
export function requirePrivate(socket: string, { make }: { readonly make: boolean }): void {
  // A pipe is in no directory, and Windows says who may write to it.
  if (isPipe(socket) || !isElsewhere(socket)) return
  const directory = dirname(socket)
  if (make) mkdirSync(directory, { recursive: true, mode: 0o700 })
  const found = lstatSync(directory, { throwIfNoEntry: false })
  if (found === undefined) return
  const reason = found.isDirectory() ? strangeness(found) : 'its directory is no directory of its own'
  if (reason !== undefined) fail('SOCKET_UNUSABLE', { path: socket, reason: `${reason}; move ${directory} away` })
  if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700)
}

function strangeness({ uid }: { readonly uid: number }): string | undefined {
  const us = process.getuid?.() ?? uid
  return uid === us ? undefined : 'its directory belongs to another user'
}

/** Where others may make directories too: not beside the journal. */
function isElsewhere(socket: string): boolean {
  return basename(dirname(socket)) === directoryName() && basename(socket) !== 'server.sock'
}

function elsewhere(home: string): string {
  const name = join(directoryName(), `${hashOf(home)}.sock`)
  const path = join(tmpdir(), name)
  return fits(path) ? path : join('/tmp', name)
}

function hashOf(home: string): string {
  // Loaded where it is needed: an editor waits while its relay starts, and most paths fit.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(home).digest('hex').slice(0, 16)
}

function directoryName(): string {
  return `parley-${process.getuid?.() ?? userInfo().username}`
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES
}
