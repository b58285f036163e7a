/** The lock of the state directory keeps the port's promises. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from 'vitest'
import { type OwnedJournal, openSqliteJournal } from '../../src/adapters/journal/sqlite/sqlite-journal.ts'
import type { Ownership } from '../../src/ports/ownership.ts'
import { temporaryDirectory, workerUrl } from '../fixtures/journal/places.ts'
import { appendOf } from './journal-words.ts'
import { ownershipContract } from './ownership.ts'

describe('the lock of the state directory', () => {
  ownershipContract(async () => {
    const { directory: root, clear } = await temporaryDirectory()
    const directory = join(root, 'state')
    const journals = new Map<Ownership, OwnedJournal>()
    return {
      async acquire() {
        const journal = await openSqliteJournal({ directory, workerUrl })
        journals.set(journal.ownership, journal)
        return journal.ownership
      },
      async takeAway(owner) {
        await rename(directory, join(root, 'moved'))
        // It finds out with its next append.
        await journals
          .get(owner)
          ?.append(appendOf('s', 0, 1))
          .catch(() => undefined)
      },
      clear,
    }
  })
})
