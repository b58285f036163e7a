/** A state directory that others could write to would let them answer for the user: it is tightened or refused, never used without a word. */
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endServers, parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

endServers()

const RUN = ['run', '--agent', 'guide', 'hi']

/** The state directory below a place where the command itself may run. */
function place(mode: number) {
  const home = join(freshDirectory(), 'state')
  mkdirSync(home)
  chmodSync(home, mode)
  return { home, cwd: freshDirectory() }
}

test.concurrent.each([0o777, 0o770, 0o775, 0o722])(
  'one of mode %o is tightened, and that is said once',
  async (mode) => {
    const run = place(mode)
    const [first, second] = [await parley(['ls'], run), await parley(['ls'], run)]
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`${run.home} could be written by other users`),
    })
    expect([statSync(run.home).mode & 0o777, second.code, second.stderr]).toEqual([0o700, 0, ''])
  },
)

test.concurrent('one that only others may read stays as it is: its files are the user’s alone', async () => {
  const run = place(0o755)
  expect((await parley(RUN, run)).stderr).not.toContain(run.home)
  expect(statSync(run.home).mode & 0o777).toBe(0o755)
  expect(statSync(join(run.home, 'journal.db')).mode & 0o077).toBe(0)
})

test.concurrent('one that others may write to and that holds other things is refused, and left alone', async () => {
  const run = place(0o777)
  writeFileSync(join(run.home, 'theirs.txt'), '')
  for (const args of [RUN, ['run', '--embedded', 'hi'], ['status'], ['serve']]) {
    const { code, stdout, stderr } = await parley(args, run)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`chmod go-w ${run.home}`)
  }
  expect(statSync(run.home).mode & 0o777).toBe(0o777)
})

// Only a system administrator can give a directory away.
test.runIf(process.getuid?.() === 0)('one of another user is refused', async () => {
  const run = place(0o700)
  chownSync(run.home, 12_345, 12_345)
  for (const args of [RUN, ['status'], ['acp']]) {
    const { code, stderr } = await parley(args, run)
    expect([code, stderr]).toEqual([2, expect.stringContaining('belongs to another user')])
  }
})

test.runIf(process.getuid?.() === 0)(
  'in one that is tightened, what another user has put there is refused',
  async () => {
    const run = place(0o777)
    writeFileSync(join(run.home, 'journal.db'), '')
    writeFileSync(join(run.home, 'mcp-consent.json'), '{}')
    chownSync(join(run.home, 'mcp-consent.json'), 12_345, 12_345)
    const { code, stderr } = await parley(['ls'], run)
    expect([code, stderr]).toEqual([2, expect.stringContaining('mcp-consent.json in it belongs to another user')])
  },
)

test.concurrent('a relative one is refused with what to type, also where HOME is relative', async () => {
  const { cwd } = place(0o700)
  const relative = await parley(RUN, { home: 'state', cwd })
  expect([relative.code, relative.stderr]).toEqual([2, expect.stringContaining(`PARLEY_HOME=${join(cwd, 'state')}`)])
  const strange = await parley(RUN, { home: '', cwd, env: { HOME: 'me', XDG_CONFIG_HOME: cwd } })
  expect([strange.code, strange.stderr]).toEqual([2, expect.stringContaining('HOME')])
})

test.concurrent('a settings file that anyone may write, and so decide what runs, is refused', async () => {
  const run = place(0o700)
  const file = join(run.home, 'config', 'parley', 'parley.toml')
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '')
  chmodSync(file, 0o666)
  const { code, stderr } = await parley(RUN, run)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod go-w ${file}`)])
})
