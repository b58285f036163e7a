/**
 * Promise 11: file tools never read or write outside the root set, for any path, even if another process swaps files or
 * links meanwhile.
 */
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { wordsIn } from '../../../test/fixtures/word-list.ts'
import { type Stage, openStage } from '../../../test/fixtures/tools/stage.ts'

const SECRET = 'the-secret-outside'
/** Also one whose name is nowhere inside. */
const OUTSIDE = ['e/secret.txt', 'marker.txt', 'secret.txt']
let stage: Stage
let outside: string

/** Beside the directory of the session: a secret, and a directory in which nothing may ever appear. */
beforeEach(async () => {
  stage = await openStage({ files: { 'a.txt': 'inside\n', 'd/secret.txt': 'inside\n', 'd/e/secret.txt': 'inside\n' } })
  outside = join(dirname(stage.dir), 'outside')
  await mkdir(join(outside, 'e'), { recursive: true })
  for (const path of OUTSIDE) await writeFile(join(outside, path), SECRET)
})
afterEach(() => stage.close())

async function expectUntouched(): Promise<void> {
  expect((await readdir(outside, { recursive: true })).toSorted()).toEqual(['e', ...OUTSIDE])
  for (const path of OUTSIDE) expect(await readFile(join(outside, path), 'utf8')).toBe(SECRET)
}

/** Everything that a model can do to a path, and all that it would read of it. */
async function everything(path: string): Promise<string> {
  const edits = [{ old_text: SECRET, new_text: 'taken' }]
  const said = [
    await stage.say('read_file', { path }),
    await stage.say('write_file', { path, content: 'taken' }),
    await stage.say('write_file', { path: `${path}/new.txt`, content: 'taken' }),
    await stage.say('edit_file', { path, edits }),
    await stage.say('list_directory', { path, depth: 3, ignored: true }),
    await stage.say('find_files', { path, pattern: '**', ignored: true }),
    JSON.stringify(await stage.preview('edit_file', { path, edits })),
    JSON.stringify(await stage.preview('write_file', { path, content: 'taken' })),
    JSON.stringify(await stage.preview('read_file', { path })),
  ]
  return said.join('\n')
}

describe('a path', () => {
  test.each([
    ['upwards', () => '../outside/secret.txt'],
    ['upwards from below', () => 'd/../../outside/secret.txt'],
    ['absolute', () => join(outside, 'secret.txt')],
    ['through the process', () => `/proc/self/cwd/${outside}/secret.txt`],
    ['through its root', () => `/proc/self/root${outside}/secret.txt`],
    ['with a NUL', () => 'a.txt\0/../../outside/secret.txt'],
    ['of a home directory', () => '~/secret.txt'],
  ])('%s is refused', async (_name, path) => {
    expect(await everything(path())).not.toContain(SECRET)
    await expectUntouched()
  })

  test.each([
    ['a file', 'secret.txt', 'link'],
    ['a directory', '', 'link/secret.txt'],
    ['a directory, on the way', '', 'link/e/../secret.txt'],
    ['nothing yet', 'new.txt', 'link'],
    ['a directory that is not there yet', 'new', 'link/new.txt'],
  ])('through a link to %s outside is refused', async (_name, target, path) => {
    for (const to of [join(outside, target), join('..', 'outside', target), join('/proc/self/root', outside, target)]) {
      await rm(stage.path('link'), { force: true })
      await symlink(to, stage.path('link'))
      expect(await everything(path)).not.toContain(SECRET)
    }
    await expectUntouched()
  })

  test('through a magic link of the kernel is refused', async () => {
    for (const [index, to] of ['/proc/self/root', '/proc/self/cwd', '/proc/1/root', '/dev/fd/0'].entries()) {
      await symlink(to, stage.path(`magic${index}`))
      expect(await everything(`magic${index}${outside}/secret.txt`)).not.toContain(SECRET)
      expect(await everything(`magic${index}`)).not.toContain(SECRET)
    }
    await expectUntouched()
  })

  test('through a link that stays inside is accepted, and listed as a link', async () => {
    await symlink('d', stage.path('link'))
    await symlink(stage.path('d/e'), stage.path('absolute'))
    expect(await stage.say('read_file', { path: 'link/secret.txt' })).toBe('inside')
    expect(await stage.say('read_file', { path: 'absolute/secret.txt' })).toBe('inside')
    expect(await stage.say('read_file', { path: 'link/e/../secret.txt' })).toBe('inside')
    expect(await stage.say('list_directory', {})).toBe('a.txt\nabsolute (link)\nd/\nlink (link)')
  })

  test('of any shape stays inside', async () => {
    await symlink(outside, stage.path('out'))
    await symlink('..', stage.path('up'))
    const names = wordsIn(`.. . d e out up outside inside secret.txt ..\\.. %2e%2e ．． ｓecret.txt ..; ....// C:
      \\\\outside /proc/self/root //`)
    const odd = ['', '..\u0000', '\u202E..', '\uD800']
    const part = fc.oneof(fc.constantFrom(...names, ...odd), fc.string({ unit: 'binary', maxLength: 6 }))
    const paths = fc.tuple(fc.boolean(), fc.array(part, { maxLength: 7 })).map(([isAbsolute, parts]) => {
      return `${isAbsolute ? '/' : ''}${parts.join('/')}` || '.'
    })
    await fc.assert(
      fc.asyncProperty(paths, async (path) => {
        expect(await stage.say('read_file', { path })).not.toContain(SECRET)
        expect(await stage.say('list_directory', { path, depth: 4, ignored: true })).not.toContain('marker')
        await stage.say('write_file', { path, content: 'taken' })
      }),
      { numRuns: 60 },
    )
    await expectUntouched()
    expect((await readdir(dirname(stage.dir))).toSorted()).toEqual(['inside', 'outside'])
  })
})

test('a search follows no link', async () => {
  await symlink(outside, stage.path('link'))
  await symlink(join(outside, 'secret.txt'), stage.path('file'))
  for (const pattern of [SECRET, 'the.*outside']) {
    for (const path of ['.', 'link', 'file'])
      expect(await stage.say('search_text', { pattern, path })).not.toContain(`:${SECRET}`)
  }
})

describe('while another process swaps', () => {
  /** Swaps as fast as a thread can: the place is what it should be, then a link to outside, then that again. */
  async function swapping(place: string, what: 'file' | 'directory', work: () => Promise<void>): Promise<void> {
    const link = what === 'file' ? join(outside, 'secret.txt') : outside
    const swapper = new Worker(SWAPPER, { eval: true, workerData: { place, link, aside: `${place}.aside` } })
    await new Promise((resolve) => swapper.once('message', resolve))
    try {
      await work()
    } finally {
      await new Promise((resolve) => {
        swapper.once('exit', resolve)
        swapper.postMessage('stop')
      })
    }
  }

  const rounds = Array.from({ length: 60 }, (_, index) => index)

  test.each([
    ['a file', 'd/secret.txt', 'file'],
    ['its directory', 'd', 'directory'],
    ['a directory above', 'd', 'directory'],
  ] as const)('%s for a link to outside, nothing there is read or written', async (name, place, what) => {
    const path = name === 'a directory above' ? 'd/e/secret.txt' : 'd/secret.txt'
    const heard = new Set<string>()
    await swapping(stage.path(place), what, async () => {
      for (const round of rounds) {
        heard.add(await stage.say('read_file', { path }))
        await stage.say('write_file', { path, content: 'inside\n' })
        await stage.say('write_file', { path: `${dirname(path)}/new${round % 3}.txt`, content: 'taken' })
        if (round % 20 === 0) heard.add(await stage.say('search_text', { pattern: SECRET.slice(0, 6) }))
      }
      // On a busy machine sixty tries may all meet a swap. A swap that a write came between may have left no file, until the next write.
      for (let tries = 0; tries < 2_000 && !heard.has('inside'); tries += 1) {
        await stage.say('write_file', { path, content: 'inside\n' })
        heard.add(await stage.say('read_file', { path }))
      }
    })
    expect([...heard].join('\n')).not.toContain(SECRET)
    // The swaps happened, and in between there was a file.
    expect(heard).toContain('inside')
    expect(heard.size).toBeGreaterThan(1)
    await expectUntouched()
  })

  test('a directory is moved out, nothing is made where it went', async () => {
    const moved = join(outside, 'e')
    await rm(moved, { recursive: true })
    mkdirSync(stage.path('d/f'))
    writeFileSync(stage.path('d/f/x.txt'), 'x')
    linkSync(stage.path('d/f/x.txt'), stage.path('d/f/y.txt'))
    await symlink(await realpath(outside), stage.path('d/g'))
    expect(await stage.say('write_file', { path: 'd/g/new.txt', content: 'taken' })).toContain(
      'outside the directories',
    )
    expect(await readdir(outside)).toEqual(['marker.txt', 'secret.txt'])
    await mkdir(moved)
    await writeFile(join(moved, 'secret.txt'), SECRET)
  })
})

/** Our own writes come in between, so any step may fail; the next round mends it. */
const SWAPPER = `
  const { renameSync, rmSync, symlinkSync } = require('node:fs')
  const { parentPort, workerData: { place, link, aside } } = require('node:worker_threads')
  let stopped = false
  parentPort.once('message', () => { stopped = true })
  const attempt = (step) => { try { step() } catch {} }
  const pause = () => { for (let i = Math.random() * 2000; i > 0; i--); }
  const spin = () => {
    for (let round = 0; round < 50; round++) {
      attempt(() => renameSync(place, aside))
      attempt(() => symlinkSync(link, place))
      pause()
      attempt(() => rmSync(place, { recursive: true }))
      attempt(() => renameSync(aside, place))
      pause()
    }
    if (!stopped) setImmediate(spin)
  }
  parentPort.postMessage('ready')
  spin()
`
