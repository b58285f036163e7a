import { DatabaseSync } from '@photostructure/sqlite'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wordsIn } from '../../test/fixtures/word-list.ts'
import { allOf, asOnePhrase, findMatches, parseQuery } from './query.ts'
import { indexText, TOKENIZER } from './tokens.ts'

/** A real full-text table with the given documents; says which of them a query finds. */
function library(documents: readonly string[]): (query: string) => readonly string[] {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE t USING fts5(text, tokenize = "${TOKENIZER}")`)
  const insert = db.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)')
  for (const [i, text] of documents.entries()) insert.run(i + 1, indexText(text))
  const select = db.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid')
  return (query) => {
    const parts = parseQuery(query)
    if (parts.length === 0) return []
    const rows = select.all(allOf(parts)) as { readonly rowid: number }[]
    return rows.map((row) => documents[row.rowid - 1] ?? '')
  }
}

function marked(text: string, query: string): readonly string[] {
  return findMatches(text, parseQuery(query)).map(([start, end]) => text.slice(start, end))
}

describe('matches of a query', () => {
  test('Chinese and Latin in one word must be adjacent, with or without a space', () => {
    const find = library(['软RAID', '软 RAID', '软件RAID', 'RAID软', '软RAID5', '软，RAID', '软（RAID）'])
    expect(find('软RAID')).toEqual(['软RAID', '软 RAID', '软RAID5'])
    expect(find('软 RAID')).toHaveLength(6)
    expect(find('RAID软')).toEqual(['RAID软'])
  })

  test('words between spaces must all occur, in any order and as whole words', () => {
    const find = library(['the journal is fsynced', 'Fsynced: journal', 'journals fsynced', 'journal'])
    expect(find('journal FSYNCED')).toEqual(['the journal is fsynced', 'Fsynced: journal'])
    expect(find('fsynced journal')).toHaveLength(2)
  })

  test('an identifier is found as it is typed', () => {
    const text = 'see file.md:12, call session/load, read_file and tools/list_changed'
    const find = library([text, 'a session that will load', 'read the file', 'tools list changed'])
    for (const query of wordsIn('session/load read_file tools/list_changed file.md:12 list_changed (file.md:12)'))
      expect([query, ...find(query)]).toEqual([query, text])
  })

  test('full-width, upper case, invisible and composed spellings are the same', () => {
    const find = library(['ＲＡＩＤ　配置', 'cafe\u0301', 'se\u00adssion', '㍿'])
    expect(find('raid')).toEqual(['ＲＡＩＤ　配置'])
    expect(find('CAFÉ')).toEqual(['cafe\u0301'])
    expect(find('session')).toEqual(['se\u00adssion'])
    expect(find('株式会社')).toEqual(['㍿'])
    expect(find('cafe')).toEqual([])
  })

  test('characters beyond the first plane, Japanese, Korean and Hindi are found too', () => {
    const find = library(['𠮷野家で𠀋', 'サーバー設定', '저널 기록', 'हिन्दी में', 'हन्दी'])
    expect(find('𠮷野')).toEqual(['𠮷野家で𠀋'])
    expect(find('野𠀋')).toEqual([])
    expect(find('バー')).toEqual(['サーバー設定'])
    expect(find('저널')).toEqual(['저널 기록'])
    expect(find('हिन्दी')).toEqual(['हिन्दी में'])
  })

  test('a phrase may span a wrapped line, never a paragraph', () => {
    const find = library(['磁盘阵\n列', '磁盘阵\n\n列'])
    expect(find('阵列')).toEqual(['磁盘阵\n列'])
  })
})

describe('highlighted ranges', () => {
  test('offsets are those of the original text', () => {
    expect(findMatches('用软RAID做阵列', parseQuery('阵列 软raid'))).toEqual([
      [1, 6],
      [7, 9],
    ])
    expect(marked('ＲＡＩＤ と ㍿です', 'raid 株式')).toEqual(['ＲＡＩＤ', '㍿'])
    expect(marked('𠮷野家の𠮷', '𠮷')).toEqual(['𠮷', '𠮷'])
    expect(marked('Cafe\u0301!', 'café')).toEqual(['Cafe\u0301'])
    expect(marked('软RAID5', '软raid')).toEqual(['软RAID'])
  })

  test('overlapping matches become one', () => {
    expect(marked('卷组卷', '卷组 组卷 卷')).toEqual(['卷组卷'])
  })
})

const HAN = ['软', '阵', '列', '卷', '组', '盘', '𠮷']
const WORDS = ['raid', 'Disk', 'read_file', '5']
const MARKS = ['，', '。', '/', ' - ', '**']
const document = fc
  .array(fc.constantFrom(...HAN, ...HAN, ...WORDS.map((word) => ` ${word} `), ...MARKS, '\n\n'), { maxLength: 30 })
  .map((pieces) => pieces.join(''))
const documents = fc.array(document, { minLength: 1, maxLength: 12 })

describe('for random documents', () => {
  test('a Chinese query finds what contains it', () => {
    fc.assert(
      fc.property(documents, fc.array(fc.constantFrom(...HAN), { minLength: 1, maxLength: 3 }), (texts, characters) => {
        const query = characters.join('')
        expect(library(texts)(query)).toEqual(texts.filter((text) => text.includes(query)))
      }),
    )
  })

  test('Latin words and Chinese runs together find what contains all of them', () => {
    const run = fc.array(fc.constantFrom(...HAN), { minLength: 1, maxLength: 2 }).map((all) => all.join(''))
    const term = fc.oneof(fc.constantFrom(...WORDS), run)
    const wordsOf = (text: string) => text.toLowerCase().split(/[^a-z0-9_]+/)
    const contains = (text: string, term: string) =>
      WORDS.includes(term) ? wordsOf(text).includes(term.toLowerCase()) : text.includes(term)
    fc.assert(
      fc.property(documents, fc.array(term, { minLength: 1, maxLength: 3 }), (texts, terms) => {
        const all = texts.filter((text) => terms.every((term) => contains(text, term)))
        expect(library(texts)(terms.join(' '))).toEqual(all)
      }),
    )
  })

  test('a mixed run finds its parts adjacent to each other', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom(...HAN), fc.constantFrom('raid', '5'), (texts, han, word) => {
        const adjacent = new RegExp(`${han}\\s*${word}`, 'iu')
        const paragraphs = (text: string) => text.split(/\n\n/)
        const wanted = texts.filter((text) => paragraphs(text).some((paragraph) => adjacent.test(paragraph)))
        expect(library(texts)(han + word)).toEqual(wanted)
      }),
    )
  })

  test('what the index finds is highlighted, in any script', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const any = fc.oneof(text, document)
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 5 }), any, (texts, query) => {
        const parts = parseQuery(query)
        for (const found of library([...texts, query])(query)) expect(findMatches(found, parts)).not.toEqual([])
      }),
    )
  })

  test('no query, however hostile, is an error', () => {
    const find = library(['plain text', '阵列'])
    const operators = ['"', '""', '*', 'a*', '-a', '(', ')', '^a', "';--", '\0']
    const hostile = [...operators, 'NEAR(a b)', 'a NEAR b', 'a AND', 'OR', 'NOT a', '{text}: a']
    const mixed = fc.array(fc.constantFrom(...hostile)).map((all) => all.join(' '))
    const any = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), mixed)
    fc.assert(fc.property(any, (query) => void find(query)))
    for (const query of hostile) expect(() => find(query)).not.toThrow()
    expect(find('"plain" (text)*')).toEqual(['plain text'])
  })

  test('a megabyte of query can be read, and its phrase form too', () => {
    const parts = parseQuery('阵列"* '.repeat(200_000))
    expect(parts).toHaveLength(1)
    expect(asOnePhrase(parseQuery(`${'a'.repeat(500_000)} ${'列'.repeat(100_000)}`))).toMatch(/^"a+ 列 列/)
  })
})
