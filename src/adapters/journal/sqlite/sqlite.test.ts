/** The SQLite journal keeps the port's promises. */
import { describe } from 'vitest'
import { journalContract } from '../../../../test/contracts/journal.ts'
import { temporaryDirectory, workerUrl } from '../../../../test/contracts/journal-places.ts'
import { openSqliteJournal } from './client.ts'

describe('sqlite journal', () => {
  journalContract(async () => {
    const { directory, clear } = await temporaryDirectory()
    return { journal: await openSqliteJournal({ directory, workerUrl }), clear }
  })
})
