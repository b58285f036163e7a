/** Renders basic Markdown line by line as it streams. Markup that cannot be shown well is shown as it was written. */
import type { Style } from './colors.ts'
import type { TextSpan } from './wrap.ts'

/** The kind of a line, by its beginning. */
export interface LineKind {
  /** Stands before its first row, and before the others. */
  readonly first: string
  readonly rest: string
  /** How many characters of the source `first` stands for. */
  readonly skipped: number
  readonly style: Style
  /** Marks inside the line mean something. */
  readonly inline: boolean
  /** It opens or closes a block of code. */
  readonly fence?: true
}

/** `inCode` is whether a block of code is open before this line. */
export function lineKind(line: string, inCode: boolean): LineKind {
  if (/^\s*(?:```|~~~)/u.test(line)) return { ...PLAIN, style: 'dim', inline: false, fence: true }
  if (inCode) return { ...PLAIN, first: '  ', rest: '  ', style: 'code', inline: false }
  const heading = /^#{1,6} +/u.exec(line)
  if (heading) return { ...PLAIN, skipped: heading[0].length, style: 'heading' }
  const quote = /^(?:> ?)+/u.exec(line)
  if (quote) return { ...PLAIN, first: '│ ', rest: '│ ', skipped: quote[0].length, style: 'dim' }
  const bullet = /^(\s*)[-*+] +/u.exec(line)
  if (bullet) return hanging(`${bullet[1] ?? ''}• `, bullet[0].length)
  const numbered = /^\s*\d+[.)] +/u.exec(line)
  if (numbered) return hanging(numbered[0], numbered[0].length)
  const indent = /^\s*/u.exec(line)?.[0] ?? ''
  return { ...PLAIN, first: indent, rest: indent, skipped: indent.length }
}

const PLAIN: LineKind = { first: '', rest: '', skipped: 0, style: 'plain', inline: true }

function hanging(first: string, skipped: number): LineKind {
  return { ...PLAIN, first, rest: ' '.repeat(first.length), skipped }
}

/** `code` or **strong**; the marks must close within a few hundred characters, on the same line. */
const MARKS = /`([^`]{1,400})`|\*\*(?=\S)([^*]{1,400}?\S)\*\*|\*\*(?=\S)([^\s*])\*\*/gu

export function styledSpansOf(line: string, { skipped, style, inline }: LineKind): readonly TextSpan[] {
  const plain = (from: number, to: number): TextSpan => ({ style, text: line.slice(from, to), at: from })
  if (!inline) return [plain(skipped, line.length)]
  const spans: TextSpan[] = []
  let from = skipped
  for (const { index, 0: whole, 1: code, 2: long, 3: short } of line.matchAll(MARKS)) {
    if (index < from) continue
    const mark = code === undefined ? 2 : 1
    spans.push(plain(from, index))
    spans.push({ style: code === undefined ? 'bold' : 'code', text: code ?? long ?? short ?? '', at: index + mark })
    from = index + whole.length
  }
  return [...spans, plain(from, line.length)].filter(({ text }) => text !== '')
}
