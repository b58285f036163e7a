/** Writes the documents that are made from the source: `npm run docs`. `test/docs.test.ts` fails when one was forgotten. */
import { readFileSync, writeFileSync } from 'node:fs'
import { agentsDocument } from './agents-document.ts'
import { errorsDocument } from './errors-document.ts'
import { journalDocument } from './journal-document.ts'

const agents = new URL('../docs/agents.md', import.meta.url)
const journal = new URL('../docs/internals/journal.md', import.meta.url)

writeFileSync(new URL('../docs/errors.md', import.meta.url), errorsDocument())
writeFileSync(journal, journalDocument(readFileSync(journal, 'utf8')))
writeFileSync(agents, agentsDocument(readFileSync(agents, 'utf8')))
