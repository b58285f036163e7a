/** State directories on a disk that is full or read-only: what is stored can be read, and work goes on when there is room. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { cleanEnvironment } from './environment.ts'
import { binary, freshDirectory } from './parley.ts'

/** A mount of its own needs namespaces, which not every machine lets a user have. */
const hasNamespaces = spawnSync('unshare', ['-Urm', 'true']).status === 0
const made: string[] = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

const PREPARE = [
  'exec 2>&1',
  'mount -t tmpfs -o size=6m tmpfs "$DISK" && cd "$DISK"',
  'parley() { "$NODE" "$BINARY" "$@"; }',
  String.raw`newest() { parley ls --json | sed 's/.*"sessionId":"\([^"]*\)".*/\1/' | head -1; }`,
]

/** Runs the lines of shell on a small disk of its own, which is gone with them. What each step printed, by its name. */
async function onSmallDisk(steps: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const directory = freshDirectory()
  made.push(directory)
  const disk = join(directory, 'disk')
  mkdirSync(disk)
  const script = join(directory, 'script.jsonl')
  writeFileSync(script, '{"chunk":"Hello there"}\n')
  const environment = {
    ...cleanEnvironment(),
    DISK: disk,
    NODE: process.execPath,
    BINARY: binary,
    PARLEY_HOME: join(disk, 'home'),
    XDG_CONFIG_HOME: join(disk, 'config'),
    PARLEY_AGENT: `script:${script}`,
  }
  const lines = Object.entries(steps).map(([name, line]) => `echo; echo @${name}; ${line}`)
  const commands = [...PREPARE, ...lines].join('\n')
  const { stdout } = await promisify(execFile)('unshare', ['-Urm', 'bash', '-c', commands], { env: environment })
  const told = stdout.split('\n@').slice(1)
  return Object.fromEntries(told.map((text) => [text.split('\n', 1)[0], text.slice(text.indexOf('\n') + 1).trim()]))
}

const READING = {
  ls: 'parley ls',
  show: 'parley show "$(newest)"',
  export: 'parley export "$(newest)"',
  search: 'parley search there',
}

const FILL = 'dd if=/dev/zero of=fill bs=1k 2>/dev/null || true'

function expectRead(told: Readonly<Record<string, string>>): void {
  expect(told['ls']).toContain('hi')
  for (const command of ['show', 'export', 'search']) expect(told[command]).toContain('Hello there')
}

const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } }
const opening = { sessionId: 'SESSION', cwd: 'DIRECTORY', additionalDirectories: ['/tmp'], mcpServers: [] }
const load = { jsonrpc: '2.0', id: 1, method: 'session/load', params: opening }

/** What an editor sends that loads the newest session, with another directory than it has, and leaves. */
const LOAD = [
  `cat <<'END' | sed "s#SESSION#$(newest)#; s#DIRECTORY#$DISK#" | parley acp | cat`,
  JSON.stringify(initialize),
  JSON.stringify(load),
  'END',
].join('\n')

describe.runIf(hasNamespaces)('on a disk', () => {
  test('that is full, a server reads and loads, refuses a prompt clearly, and works when there is room', async () => {
    const told = await onSmallDisk({
      first: 'parley run hi',
      fill: FILL,
      ...READING,
      load: LOAD,
      refused: 'parley run --session "$(newest)" more; echo "code $?"',
      again: 'rm fill; parley run --session "$(newest)" again; echo "code $?"',
      stop: 'parley stop',
    })
    expectRead(told)
    expect(told['load']).toMatch(/Hello there.*"id":1,"result":/su)
    expect(told['refused']).toMatch(/^parley: The disk is full, .*free some space and try again\.\ncode 1$/u)
    expect(told['again']).toBe('Hello there\ncode 0')
    expect(told['stop']).toContain('has stopped')
  })

  test.each([
    ['full', FILL, /the disk is full.*can be read with parley ls/u],
    ['read-only', 'mount -o remount,ro "$DISK"', /is read-only; what is stored can be read with parley ls/u],
  ])('that is %s, what is stored is read without a server, and what needs one says why not', async (_, line, why) => {
    const told = await onSmallDisk({
      first: 'parley run --embedded hi',
      line,
      ...READING,
      refused: 'parley run more; echo "code $?"',
    })
    expectRead(told)
    expect(told['refused']).toMatch(why)
    expect(told['refused']).toMatch(/code 1$/u)
  })
})
