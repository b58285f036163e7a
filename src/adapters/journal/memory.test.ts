/** The journal in memory keeps the port's promises. */
import { describe } from 'vitest'
import { journalContract } from '../../../test/contracts/journal.ts'
import { memoryJournal } from './memory.ts'

describe('memory journal', () => {
  journalContract(async () => ({ journal: memoryJournal(), clear: () => Promise.resolve() }))
})
