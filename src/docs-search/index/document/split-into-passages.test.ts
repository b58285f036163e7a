import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { markdown } from '../formats/markdown.ts'
import { passagesOf, sectionsOf, titleOf } from './split-into-passages.ts'

function outlineOf(source: string) {
  return markdown(source)
}

test('a section is a passage with its heading path and lines', () => {
  const source = '\nBefore.\n\n# A\n\n## B\n\ntext of B\n\n### C\n\ntext of C\n\n## D\n'
  const passages = passagesOf(outlineOf(source)).map(({ headingPath, line, text }) => ({ headingPath, line, text }))
  expect(passages).toEqual([
    { headingPath: [], line: 2, text: 'Before.' },
    { headingPath: ['A', 'B'], line: 4, text: '# A\n\n## B\n\ntext of B' },
    { headingPath: ['A', 'B', 'C'], line: 10, text: '### C\n\ntext of C' },
    { headingPath: ['A', 'D'], line: 14, text: '## D' },
  ])
})

test('headings are distinguished from text', () => {
  expect(passagesOf(outlineOf('# A\n\n## B\n\ntext'))).toMatchObject([{ heading: '# A\n\n## B', body: '\n\n\n\ntext' }])
})

test('the title of a document is from its front matter, else its first heading, else its file name', () => {
  expect(titleOf(outlineOf('---\ntitle: T\n---\n# A'), 'a.md')).toBe('T')
  expect(titleOf(outlineOf('text\n\n## A'), 'a.md')).toBe('A')
  expect(titleOf(outlineOf('text'), 'notes.2026.md')).toBe('notes.2026')
})

test('a long section is split after a paragraph, else a sentence, else a word', () => {
  const lengths = (source: string) => passagesOf(outlineOf(source)).map(({ text }) => text.length)
  const paragraph = `${'word '.repeat(99)}end.`
  expect(lengths([paragraph, paragraph, paragraph].join('\n\n'))).toEqual([499, 499, 499])
  const sentence = `${'字'.repeat(99)}。`
  expect(lengths(sentence.repeat(20))).toEqual([800, 800, 400])
  expect(Math.max(...lengths('word '.repeat(1000)))).toBeLessThanOrEqual(800)
  expect(lengths('𠮷'.repeat(1000))).toEqual([800, 800, 400])
})

test('passages contain the whole text, in order, with correct line numbers', () => {
  const pieces = ['# H\n', '\n', '\n\n', 'word ', '阵列，', '。', '```\n', '  ', '𠮷', 'x'.repeat(300), '- a\n']
  const piece = fc.constantFrom(...pieces)
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const source = pieces.join('')
      const passages = passagesOf(outlineOf(source))
      let at = 0
      for (const { text, line } of passages) {
        const start = source.indexOf(text, at)
        expect(source.slice(at, start).trim()).toBe('')
        expect(source.slice(0, start).split('\n')).toHaveLength(line)
        expect(Buffer.from(text).toString()).toBe(text)
        at = start + text.length
      }
      expect(source.slice(at).trim()).toBe('')
      for (const { start, end } of sectionsOf(outlineOf(source))) expect(end).toBeGreaterThanOrEqual(start)
    }),
  )
})
