/** Links that take the place of what was indexed lead nowhere: not when a document is read, and not while directories are walked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Worker } from 'node:worker_threads'
import { walk } from '../../src/docs-search/index/collect/walk.ts'
import { walkTree } from '../../src/workspace/walk.ts'
import { until } from '../fixtures/process/running.ts'
import { closeAfterEach, directoryWith, found, RawSession, serve } from './served.ts'

closeAfterEach()

test.concurrent.each([
  ['a directory', 'sub'],
  ['a directory further up', 'up'],
  ['the file itself', 'up/sub/a.md'],
])('a link that takes the place of %s after indexing is not followed by who reads', async (_what, name) => {
  const outside = await directoryWith({ 'up/sub/a.md': 'omega', 'sub/a.md': 'omega', 'inside/a.md': 'omega' })
  const { server, directory } = await serve({ 'sub/a.md': 'alpha', 'up/sub/a.md': 'alpha', 'secret/sub/a.md': 'omega' })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['sub/a.md', 'up/sub/a.md'])
  const uris = ['sub/a.md', 'up/sub/a.md'].map((file) => `doc://${basename(directory)}/${file}`)
  for (const target of [join(outside, name), join(directory, 'secret')]) {
    await rm(join(directory, `${name}.old`), { recursive: true, force: true })
    await rename(join(directory, name), join(directory, `${name}.old`))
    await symlink(target, join(directory, name))
    for (const uri of uris) {
      for (const tool of ['read_document', 'outline'])
        expect(JSON.stringify(await session.call(tool, { uri }))).not.toContain('omega')
    }
    await rm(join(directory, name))
    await rename(join(directory, `${name}.old`), join(directory, name))
  }
})

test.runIf(process.platform === 'linux')(
  'what the system does not list is passed, and costs nothing else',
  async () => {
    // The directory `net` of a process that has ended, and that its parent does not collect, cannot be listed.
    const script = 'read line <&3 & echo $!; exec sleep 1000'
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
    try {
      const [said] = (await once(parent.stdout as Readable, 'data')) as [Buffer]
      const ended = `/proc/${String(said).trim()}`
      // A shell would still collect it.
      await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n')
      ;(parent.stdio[3] as Writable).end('\n')
      await until(() => readFileSync(`${ended}/stat`, 'utf8').includes(') Z '))
      expect(await walk(ended, { files: 10, bytes: 1000 })).toMatchObject({ real: ended, truncated: false })
      const roots = [{ given: ended, real: ended }]
      const all = { roots, depth: 5, ignored: true, signal: new AbortController().signal, passes: () => false }
      await walkTree(ended, all, async () => 'on')
    } finally {
      parent.kill()
    }
  },
)

test.concurrent('a walk beside which a directory and a link to another take turns finds nothing outside', async () => {
  const outside = await directoryWith({ 'outside.md': 'omega', 'deep/outside.md': 'omega' })
  const directory = await directoryWith({ 'sub/inside.md': 'alpha', 'sub/deep/inside.md': 'alpha' })
  await mkdir(join(directory, 'other'))
  await symlink(outside, join(directory, 'link'))
  const swapping = new Worker(
    `const { renameSync } = require('node:fs')
     const { workerData, parentPort } = require('node:worker_threads')
     const at = (name) => workerData + '/' + name
     let goes = true
     parentPort.once('message', () => { goes = false })
     const turn = () => {
       for (let n = 0; n < 50; n += 1) {
         renameSync(at('sub'), at('kept')); renameSync(at('link'), at('sub'))
         renameSync(at('sub'), at('link')); renameSync(at('kept'), at('sub'))
       }
       if (goes) setImmediate(turn)
       else parentPort.close()
     }
     parentPort.postMessage('begun')
     turn()`,
    { eval: true, workerData: directory },
  )
  const ended = new Promise((resolve) => swapping.once('exit', resolve))
  await new Promise((resolve) => swapping.once('message', resolve))
  const files = new Set<string>()
  for (let n = 0; n < 400; n += 1) {
    const { files: all = [] } = (await walk(directory, { files: 100, bytes: 10_000 })) ?? {}
    for (const { file } of all) files.add(file)
  }
  swapping.postMessage('end')
  await ended
  expect([...files].filter((file) => file.includes('outside'))).toEqual([])
  expect([...files].some((file) => file.includes('inside'))).toBe(true)
})
