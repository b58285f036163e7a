/**
 * The part of `docs/internals/journal.md` that is made from the source: each entry with its fields, and the shapes that they use.
 * The words come from the comments of `src/session/domain/entries.ts` and of the ports.
 */
import { readFileSync } from 'node:fs'
import { parseSync } from 'rolldown/utils'

const root = new URL('..', import.meta.url)
const BEGIN = '<!-- Made by `npm run docs` from src/session/domain/entries.ts: -->'
const END = '<!-- The end of what `npm run docs` makes. -->'

const ENTRIES = 'src/session/domain/entries.ts'
const SHAPES = ['values/content', 'values/settings', 'rules', 'agent', 'tools', 'values/elicitation'].map(
  (name) => `src/ports/${name}.ts`,
)

interface Declaration {
  readonly name: string
  readonly text: string
}

/** The page with its made part as the source has it now. */
export function journalDocument(page: string): string {
  const [before] = page.split(BEGIN)
  const [, after] = page.split(END)
  if (before === undefined || after === undefined) throw new Error(`docs/internals/journal.md has no “${BEGIN}”`)
  return `${before}${BEGIN}\n\n${entrySections()}\n${shapesSection()}\n${END}${after}`
}

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

function entrySections(): string {
  const text = read(ENTRIES)
  const { program, comments } = parseSync(ENTRIES, text)
  const union = program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : undefined
    return declared?.type === 'TSTypeAliasDeclaration' && declared.id.name === 'Body' ? [declared.typeAnnotation] : []
  })[0]
  if (union?.type !== 'TSUnionType') throw new Error(`${ENTRIES} has no union Body`)
  const wordsBefore = (position: number) => {
    const comment = comments.findLast(({ end }) => end <= position && /^[\s|]*$/u.test(text.slice(end, position)))
    return comment === undefined ? '' : wordsOf(comment.value)
  }
  let last = ''
  const sections = union.types.map((member) => {
    if (member.type !== 'TSTypeLiteral') throw new Error(`${ENTRIES}: a body is an object`)
    const fields = member.members.map((field) => {
      if (field.type !== 'TSPropertySignature' || field.key.type !== 'Identifier' || field.typeAnnotation === null)
        throw new Error(`${ENTRIES}: a body has fields alone`)
      const { start, end } = field.typeAnnotation.typeAnnotation
      const name = `${field.key.name}${field.optional ? '?' : ''}`
      return { name, type: plain(text.slice(start, end)), words: wordsBefore(field.start) }
    })
    const [kind, ...others] = fields
    const lines = others.map(({ name, type, words }) =>
      bullet(`\`${name}: ${type}\`${words === '' ? '' : `: ${words}`}`),
    )
    const heading = `### ${kind?.type.replaceAll("'", '`')}\n\n`
    const isAnother = heading === last
    last = heading
    return [isAnother ? '' : heading, wrapped(wordsBefore(member.start)), lines.length > 0 ? '\n' : '', ...lines].join(
      '',
    )
  })
  return sections.join('\n')
}

/** Every declaration that the entries use, however indirectly, in the order of its file. */
function shapesSection(): string {
  const declared = [ENTRIES, ...SHAPES].flatMap(declarationsIn)
  const wanted = new Set<string>()
  const add = (text: string) => {
    for (const { name, text: more } of declared) {
      if (wanted.has(name) || name === 'Body' || name === 'Entry' || !new RegExp(`\\b${name}\\b`, 'u').test(text))
        continue
      wanted.add(name)
      add(withoutComments(more))
    }
  }
  add(withoutComments(declared.find(({ name }) => name === 'Body')?.text ?? ''))
  const shapes = declared.filter(({ name }) => wanted.has(name)).map(({ text }) => text)
  return `## Shapes\n\n\`\`\`ts\n${shapes.join('\n\n')}\n\`\`\`\n`
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*\*[^]*?\*\//gu, '')
}

function declarationsIn(path: string): readonly Declaration[] {
  const text = read(path)
  const { program, comments } = parseSync(path, text)
  return program.body.flatMap((statement): readonly Declaration[] => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type !== 'TSInterfaceDeclaration' && declared?.type !== 'TSTypeAliasDeclaration') return []
    const comment = comments.findLast(
      ({ end }) => end <= statement.start && text.slice(end, statement.start).trim() === '',
    )
    const words = comment === undefined ? '' : `${text.slice(comment.start, comment.end)}\n`
    return [{ name: declared.id.name, text: words + plain(text.slice(declared.start, declared.end), true) }]
  })
}

/** Everything stored is read-only; to say so at each field helps no reader. */
function plain(code: string, keepsLines = false): string {
  const bare = code.replaceAll('readonly ', '')
  return keepsLines ? bare : bare.replaceAll(/\s+/gu, ' ')
}

function wordsOf(comment: string): string {
  return comment
    .replaceAll(/^[*\s]+|\s+$/gmu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim()
}

function bullet(words: string): string {
  return wrapped(`- ${words}`, '  ')
}

const LONGEST_LINE = 100

function wrapped(words: string, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ')) {
    const longer = line === '' ? `${lines.length === 0 ? '' : indent}${word}` : `${line} ${word}`
    if (longer.length > LONGEST_LINE && line !== '') {
      lines.push(line)
      line = `${indent}${word}`
    } else line = longer
  }
  return [...lines, line].map((one) => `${one}\n`).join('')
}
