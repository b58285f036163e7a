/** Two texts as one diff: lines out and in, what changed within them, and the rest folded. */
import { useMemo, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Plain } from '../markdown/plain.tsx'
import { CopyButton } from '../page/controls.tsx'
import { type DiffLine, type Gap, diffOf } from './diff.ts'

export interface DiffProps {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** Rows that are shown at first; a diff of thousands of lines is not read whole. */
const FIRST_ROWS = 200

export function DiffView({ path, before, after }: DiffProps) {
  const { rows, added, removed } = useMemo(() => diffOf(before, after), [before, after])
  const [limit, setLimit] = useState(FIRST_ROWS)
  const name = path.split('/').at(-1) ?? path
  return (
    <figure class="diff">
      <figcaption>
        <span class="title" title={path}>
          <Plain text={name} />
        </span>
        <span class="added">+{added}</span>
        <span class="removed">−{removed}</span>
        <CopyButton text={after} />
      </figcaption>
      <div class="lines" tabIndex={0} role="group" aria-label={path}>
        <table>
          <tbody>
            {rows
              .slice(0, limit)
              .map((row, index) =>
                row.kind === 'gap' ? <GapRows key={index} gap={row} /> : <LineRow key={index} line={row} />,
              )}
          </tbody>
        </table>
      </div>
      {rows.length > limit && (
        <button type="button" class="quiet wide" onClick={() => setLimit(limit * 5)}>
          {words().showLines(rows.length - limit)}
        </button>
      )}
    </figure>
  )
}

const SIGNS = { added: '+', removed: '−', same: ' ' } as const

function LineRow({ line }: { readonly line: DiffLine }) {
  return (
    <tr class={line.kind}>
      <td class="number">{line.before}</td>
      <td class="number">{line.after}</td>
      <td class="sign">{SIGNS[line.kind]}</td>
      <td class="text">
        {line.parts.map(({ text, isChanged }, index) =>
          isChanged ? (
            <mark key={index}>
              <Plain text={text} />
            </mark>
          ) : (
            <Plain key={index} text={text} />
          ),
        )}
      </td>
    </tr>
  )
}

function GapRows({ gap }: { readonly gap: Gap }) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen)
    return (
      <>
        {gap.lines.slice(0, 2_000).map((line) => (
          <LineRow key={line.after} line={line} />
        ))}
      </>
    )
  return (
    <tr class="gap">
      <td colSpan={4}>
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          {words().unchanged(gap.lines.length)}
        </button>
      </td>
    </tr>
  )
}
