import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { memoryJournal } from '../../src/adapters/journal/memory.ts'
import { openSqliteJournal } from '../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { journalImportContract } from './journal-import.ts'

const workerUrl = new URL('../../dist/journal-worker.cjs', import.meta.url)

describe('memory journal', () => {
  journalImportContract(async () => ({ journal: memoryJournal(), clear: () => Promise.resolve() }))
})

describe('sqlite journal', () => {
  journalImportContract(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'parley-import-'))
    const journal = await openSqliteJournal({ directory, workerUrl })
    return { journal, clear: () => rm(directory, { recursive: true, force: true }) }
  })
})
