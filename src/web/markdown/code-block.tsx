/** A block of code: its language, a button that copies, one that wraps, and colours as soon as they are there. */
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { CopyButton } from '../page/controls.tsx'
import { type Coloured, highlight } from './highlight.ts'
import { Plain } from './plain.tsx'

/** Lines beyond this, and characters of one line, are shown when asked for. */
const MAX_LINES = 400
const MAX_LINE = 5_000

export function CodeBlock({ code, language }: { readonly code: string; readonly language: string }) {
  const [wraps, setWraps] = useState(false)
  const [isAll, setAll] = useState(false)
  const lines = code.split('\n')
  const isLong = lines.length > MAX_LINES || code.length > MAX_LINE * 20 || lines.some((line) => line.length > MAX_LINE)
  const shown = isLong && !isAll ? lines.slice(0, MAX_LINES).map(shortened).join('\n') : code
  const coloured = useColours(language, shown)
  return (
    <figure class="code">
      <figcaption>
        <span>{language}</span>
        <button type="button" class="quiet" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          {words().wrap}
        </button>
        <CopyButton text={code} />
      </figcaption>
      <pre class={wraps ? 'wraps' : undefined} tabIndex={0}>
        <code>{coloured === undefined ? <Plain text={shown} /> : coloured.map(colouredPiece)}</code>
      </pre>
      {isLong && (
        <button type="button" class="quiet wide" onClick={() => setAll(!isAll)}>
          {isAll ? words().showLess : words().showLines(Math.max(1, lines.length - MAX_LINES))}
        </button>
      )}
    </figure>
  )
}

function shortened(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
}

function colouredPiece([colour, text]: Coloured, index: number) {
  const piece = <Plain key={index} text={text} />
  return colour === '' ? (
    piece
  ) : (
    <span key={index} class={`c-${colour}`}>
      {piece}
    </span>
  )
}

/** Undefined until the worker has answered, and while the code still grows. */
function useColours(language: string, code: string): readonly Coloured[] | undefined {
  const [coloured, setColoured] = useState<{ readonly code: string; readonly pieces: readonly Coloured[] }>()
  useEffect(() => {
    let isWanted = true
    const timer = setTimeout(() => {
      void highlight(language, code).then((pieces) => {
        if (isWanted && pieces !== undefined) setColoured({ code, pieces })
      })
    }, 80)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [language, code])
  return coloured?.code === code ? coloured.pieces : undefined
}
