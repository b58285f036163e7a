/** What a command printed: its colours, its last lines first in view, and a copy without colours. */
import { useMemo, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Plain } from '../markdown/plain.tsx'
import { CopyButton } from '../page/controls.tsx'
import { linesOf, plainText } from './ansi.ts'

const LAST_LINES = 200
const MAX_LINE = 5_000
/** More than this is not read before it is asked for. */
const LAST_CHARS = 200_000

export function TerminalOutputView({ output }: { readonly output: string }) {
  const [isAll, setAll] = useState(false)
  const shown = isAll ? output : output.slice(-LAST_CHARS)
  const lines = useMemo(() => linesOf(shown.replace(/\n$/u, '')), [shown])
  const visible = isAll ? lines : lines.slice(-LAST_LINES)
  const hidden = lines.length - visible.length
  return (
    <figure class="terminal">
      {(hidden > 0 || shown.length < output.length) && (
        <button type="button" class="quiet wide" onClick={() => setAll(true)}>
          {words().showLines(Math.max(1, hidden))}
        </button>
      )}
      <pre tabIndex={0}>
        {visible.map((runs, index) => (
          <span key={index}>
            {runs.map(({ text, style }, at) => (
              <span key={at} class={style === '' ? undefined : style}>
                <Plain text={text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text} />
              </span>
            ))}
            {index < visible.length - 1 && '\n'}
          </span>
        ))}
      </pre>
      <CopyButton text={plainText(shown)} />
    </figure>
  )
}

/** Text with colours of a terminal is no Markdown. */
export function looksLikeOutput(text: string): boolean {
  return text.includes('\u001b[')
}
