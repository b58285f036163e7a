/**
 * Every loop over a text from outside comes to its end: blanks that only Unicode knows, mixtures of what each reader gives a meaning to, and long
 * repetitions. A reader that makes no progress hangs this file.
 */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wordsIn } from './fixtures/word-list.ts'
import { fitsPath, fitsWord, mayMatchInside } from '../src/path-rules/path-rules.ts'
import { applyEdits } from '../src/adapters/builtin-tools/edit/apply.ts'
import { editDiffOf } from '../src/adapters/builtin-tools/files/text-files.ts'
import { readablePage } from '../src/adapters/builtin-tools/fetch/html-to-text.ts'
import { withoutControls } from '../src/adapters/builtin-tools/run/output.ts'
import { pathTest } from '../src/adapters/builtin-tools/search/glob.ts'
import { literalIn } from '../src/adapters/builtin-tools/search/candidates.ts'
import { approvalPrefix } from '../src/shell-safety/approval-prefix.ts'
import { assessCommandLine } from '../src/shell-safety/assess-command.ts'
import { decode } from '../src/workspace/encoding.ts'
import { textLines, filePageOf } from '../src/adapters/builtin-tools/files/pages.ts'
import { piecesOf } from '../src/adapters/search/query/pieces.ts'
import { clean, graphemesOf, oneLine, widthOf } from '../src/cli/output/terminal/text.ts'
import { wrapSpans } from '../src/cli/output/terminal/wrap.ts'
import { linesChanged } from '../src/cli/output/view/difference.ts'
import { importedFrom } from '../src/config/mcp/import-servers.ts'
import { perhapsMeant } from '../src/config/nearest.ts'
import { positionOfKey } from '../src/config/files/toml-position.ts'
import { withTable, withoutTable } from '../src/config/files/toml-tables.ts'
import { outlineOfHtml } from '../src/docs-search/index/formats/html.ts'
import { markdown } from '../src/docs-search/index/formats/markdown.ts'
import { snippetOf } from '../src/docs-search/index/query/snippet.ts'
import { stemText, stemsOf } from '../src/docs-search/index/query/stems.ts'
import { LineFraming } from '../src/rpc/framing.ts'
import { scanUpdateCursor } from '../src/relay/state/open-sessions.ts'
import { defaultIgnoreRules } from '../src/workspace/walk.ts'

interface Reader {
  readonly name: string
  readonly reads: (text: string) => unknown
  /** What has a meaning to it, besides the usual. */
  readonly pieces?: readonly string[]
}

const mirrored = (text: string) => text.split('\n').toReversed().join('\n')

const SHELL =
  wordsIn(`$( \${ $(( $' $" << <<- <<< <( >( &> >| 1<> && [[ ]] (( )) esac for do done if then fi EOF @( coproc
  rm \` ' " \\ ( ) { } [ ] < > | & ; # ! ~ * ? =`)

const READERS: readonly Reader[] = [
  {
    name: 'a command line',
    reads: (text) => [assessCommandLine(text), approvalPrefix(text)],
    pieces: [...SHELL, 'case x in', 'a() {', 'git -c', 'sh -c'],
  },
  { name: 'what a command prints', reads: withoutControls, pieces: ['\u001B]', '\u001B[', '\u009B', '\u0007', '\r'] },
  {
    name: 'patterns of rules',
    reads: (text) => [fitsWord(text, 'a.b'), fitsWord('*a*b', text), fitsPath(text, 'a/b'), fitsPath('**/a', text)],
    pieces: ['*', '**', '?', '/'],
  },
  {
    name: 'places of a command',
    reads: (text) => mayMatchInside(`/${text}`, '/a/.b/c', true),
    pieces: ['*', '**', '/'],
  },
  {
    name: 'patterns of files',
    reads: (text) => [pathTest(text)('a/b.ts'), pathTest('**/{a,b}*.ts')(text)],
    pieces: ['*', '**', '{', '}', '[', ']', '!', ',', '\\', '/'],
  },
  { name: 'regular expressions', reads: (text) => literalIn(text, false), pieces: ['\\', '(', ')', '[', '|', '{1,2}'] },
  {
    name: 'ignore files',
    reads: (text) => defaultIgnoreRules().below('', [text]).ignores('a/b', false),
    pieces: ['!', '/', '**'],
  },
  {
    name: 'a page of the web',
    reads: (text) => [readablePage(text, new URL('http://a.example/')), outlineOfHtml(text)],
    pieces: ['<', '>', '</', '<!--', '-->', '<script>', '</script', '<a href="', '&#', '&amp;', '<![CDATA[', '<pre>'],
  },
  { name: 'Markdown', reads: markdown, pieces: ['# ', '```', '~~~', '===', '---', '> ', '- '] },
  { name: 'a passage', reads: (text) => [snippetOf(text, [], 20), snippetOf(text, [[3, 5]], 9), piecesOf(text)] },
  { name: 'words of a document', reads: (text) => [stemsOf(text), stemText(text)] },
  {
    name: 'a change of a file',
    reads: (text) => [
      editDiffOf('a', text, mirrored(text)),
      linesChanged({ type: 'diff', path: 'a', oldText: text, newText: mirrored(text) }),
      orRefused(() => applyEdits(text, [{ old_text: text.slice(2, 7), new_text: 'b' }])),
    ],
  },
  {
    name: 'a file',
    reads: (text) => [decode(Buffer.from(text)), decode(Buffer.from(text, 'utf16le')), textLines(text), paged(text)],
  },
  {
    name: 'what a terminal shows',
    reads: (text) => [
      clean(text),
      oneLine(text, 7),
      widthOf(text),
      graphemesOf(text),
      wrapSpans([{ style: 'plain', text, at: 0 }], {
        width: 7,
        first: '> ',
        rest: '  ',
        paint: (_style, said) => said,
      }),
    ],
    pieces: ['\u001B[', '\u200D', '\u0301', '👩‍👩‍👧', '世'],
  },
  {
    name: 'a TOML file',
    reads: (text) => [
      positionOfKey('a.toml', text, 'mcp.a.command'),
      orRefused(() => withTable(text, ['mcp', 'a'], { command: 'x' })),
      orRefused(() => withoutTable(text, ['mcp', 'a'])),
      perhapsMeant(text, ['agent', 'model']),
    ],
    pieces: ['[', ']', '[[', ']]', '"', "'", '"""', "'''", '#', '=', '.', 'mcp', 'a', 'command', '{', '}', '\\'],
  },
  {
    name: 'settings of other programs',
    reads: (text) => orRefused(() => importedFrom('a.json', text)),
    pieces: ['{', '"'],
  },
  {
    name: 'lines of a connection',
    reads: (text) => {
      const [bytes, framing] = [Buffer.from(text), new LineFraming(50)]
      for (let at = 0; at < bytes.length; at += 7) framing.push(bytes.subarray(at, at + 7))
      return scanUpdateCursor(bytes)
    },
  },
]

function paged(text: string): string {
  return orRefused(() => filePageOf(text, { line: 1, limit: 3 })) ?? ''
}

/** A refusal is an answer too. */
function orRefused<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const USUAL = [
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\f',
  '\v',
  '\u00A0',
  '\u2028',
  '\u3000',
  '\uFEFF',
  '\0',
  '\uD800',
  'a',
  'b',
  '0',
]

const ODD = Array.from({ length: 0x11_00_00 }, (_, code) => String.fromCodePoint(code)).filter((letter) =>
  /[\p{Z}\p{Cc}\p{Cf}]/u.test(letter),
)

describe('a text from outside is read to its end', () => {
  test.each(READERS)('$name: every blank, control and format character of Unicode', ({ reads, pieces = [] }) => {
    const [before = 'a', after = 'b'] = pieces
    for (const letter of ODD) expect(orRefused(() => reads(`a${letter}b${before}${letter}${after}`))).not.toBe(null)
  })

  test.each(READERS)('$name: any mixture', ({ reads, pieces = [] }) => {
    const piece = fc.oneof(fc.constantFrom(...USUAL, ...pieces), fc.string({ unit: 'binary', maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (chosen) => {
        expect(orRefused(() => reads(chosen.join('')))).not.toBe(null)
      }),
      { numRuns: 150 },
    )
  })

  test.each(READERS)('$name: what has a meaning, thousands of times', ({ reads, pieces = [] }) => {
    for (const piece of [...USUAL, ...pieces])
      expect(orRefused(() => [reads(piece.repeat(2_000)), reads(`${piece}a`.repeat(1_500))])).not.toBe(null)
  })
})
