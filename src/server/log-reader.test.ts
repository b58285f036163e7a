import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { logPathIn } from './log-line.ts'
import { LogReader } from './log-reader.ts'

test('what is written between the first look and the watching is told too', async () => {
  const home = mkdtempSync(join(tmpdir(), 'parley-log-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  appendFileSync(logPathIn(home), 'one\n')
  const reader = new LogReader(home)
  const told = [...reader.last(9)]
  appendFileSync(logPathIn(home), 'two\n')
  onTestFinished(reader.watch(() => told.push(...reader.next())))
  await expect.poll(() => told).toEqual(['one', 'two'])
})
