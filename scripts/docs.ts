/** Writes the documents that are made from the source: `npm run docs`. `test/docs.test.ts` fails when one was forgotten. */
import { writeFileSync } from 'node:fs'
import { errorsDocument } from './errors-document.ts'

writeFileSync(new URL('../docs/errors.md', import.meta.url), errorsDocument())
