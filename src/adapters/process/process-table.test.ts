import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { linuxTable, parseStat } from './linux-table.ts'
import { macosTable } from './macos-table.ts'

test('a line of /proc is read whatever the program is called', () => {
  const line = `12 (a) Z (b) S 1 34 12 0 -1 4194304 0 0 0 0 200 50 0 0 20 0 1 0 100 1000000 300 0`
  const used = { cpuMs: 2_500, residentBytes: 300 * 4096 }
  expect(parseStat(line)).toEqual({ pid: 12, command: 'a) Z (b', isRunning: true, parent: 1, group: 34, ...used })
  expect(parseStat('')).toBeUndefined()
})

// In the shape that ps(1) of macOS has; made up.
const ROWS = `
    1     0     1 Ss     5:40.08  14560 /sbin/launchd
  812     1   812 S+   123:45.67 104832 /Applications/My Editor.app/Contents/MacOS/editor
  900   812   812 Z      0:00.00      0 (node)
`
const ENVIRONMENTS = `
    1 /sbin/launchd
  900 node server.js PATH=/usr/bin PARLEY_CHILD=ab-1-2 HOME=/Users/me
  901 grep PARLEY_CHILD=ab-9-9 PARLEY_CHILD=ab-1-3 LANG=C
  902 /bin/sh -c sleep 9
`

test('processes of macOS come from ps', async () => {
  const table = macosTable(async ([first]) => (first === '-axo' ? ROWS : ENVIRONMENTS))
  const first = { pid: 1, parent: 0, group: 1, isRunning: true, command: '/sbin/launchd' }
  const editor = { pid: 812, cpuMs: 7_425_670, command: '/Applications/My Editor.app/Contents/MacOS/editor' }
  expect(await table.rows()).toEqual([
    { ...first, cpuMs: 340_080, residentBytes: 14560 * 1024 },
    expect.objectContaining(editor),
    expect.objectContaining({ pid: 900, group: 812, isRunning: false }),
  ])
  expect(await table.marked()).toEqual([
    { pid: 900, marker: 'ab-1-2' },
    { pid: 901, marker: 'ab-1-3' },
  ])
})

test('a ps that fails gives an empty table', async () => {
  const table = macosTable(() => Promise.reject(new Error('no ps')))
  expect([await table.rows(), await table.marked()]).toEqual([undefined, []])
})

test('ps and /proc agree about this process', async () => {
  const table = macosTable(async (args) => (await promisify(execFile)('ps', args)).stdout)
  const own = (rows: Awaited<ReturnType<typeof table.rows>>) => rows?.find(({ pid }) => pid === process.pid)
  const [byPs, byProc] = [own(await table.rows()), own(await linuxTable.rows())]
  expect(byPs).toMatchObject({ parent: process.ppid, isRunning: true })
  expect(byProc).toMatchObject({ parent: process.ppid, isRunning: true, group: byPs?.group })
})
