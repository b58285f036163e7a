/** `docs/errors.md`, made from the catalogue: one row per error, its sentence with the names of what is filled in. */
import { catalogue } from '../src/errors/catalogue.ts'

const opening = `# Errors

Every error of Parley. Over JSON-RPC the code below is \`error.code\`, the name is \`error.data.code\`,
and the sentence is \`error.message\`. *Again* says whether the same request may succeed later.
Written by \`npm run docs\` from [the catalogue](../src/errors/catalogue.ts).

| name | code | again | sentence |
|---|---|---|---|
`

export function errorsDocument(): string {
  const rows = Object.entries(catalogue).map(
    ([name, row]) =>
      `| \`${name}\` | ${row.rpc} | ${row.retryable ? 'yes' : 'no'} | ${cell(row.sentence(placeholders as never))} |\n`,
  )
  return opening + rows.join('')
}

/** Every detail of every error is its own name in braces. */
const placeholders = new Proxy({}, { get: (_details, name) => `{${String(name)}}` })

function cell(sentence: string): string {
  return sentence.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
