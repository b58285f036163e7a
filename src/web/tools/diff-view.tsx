/** Two texts as one diff: lines out and in, what changed within them, and the rest folded. */
import { signal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Plain } from '../markdown/plain.tsx'
import { CopyButton } from '../page/controls.tsx'
import { type DiffLine, type Gap, type Pair, diffOf, sideBySide } from './diff.ts'

export interface DiffProps {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** Rows that are shown at first; a diff of thousands of lines is not read whole. */
const FIRST_ROWS = 200
const MOST_UNFOLDED = 2_000

/** There is room for what was and what is side by side. */
const wide = matchMedia('(min-width: 1100px)')
const isWide = signal(wide.matches)
wide.addEventListener('change', () => (isWide.value = wide.matches))

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
        <table class={isWide.value ? 'sides' : undefined}>
          <tbody>
            {isWide.value
              ? sideBySide(rows.slice(0, limit)).map((row, index) => <PairRow key={index} row={row} />)
              : rows
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

function PairRow({ row }: { readonly row: Pair | Gap }) {
  if (row.kind === 'gap') return <GapRows gap={row} />
  const { before, after } = row
  return (
    <tr>
      <Side line={before} number={before?.before} />
      <Side line={after} number={after?.after} />
    </tr>
  )
}

function Side({ line, number }: { readonly line: DiffLine | undefined; readonly number: number | undefined }) {
  const kind = line?.kind ?? 'none'
  return (
    <>
      <td class={`number ${kind}`}>{number}</td>
      <td class={`text ${kind}`}>
        {line !== undefined && line.kind !== 'same' && <span class="hidden">{SIGNS[line.kind]}</span>}
        {line !== undefined && <Text line={line} />}
      </td>
    </>
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
        <Text line={line} />
      </td>
    </tr>
  )
}

function Text({ line: { parts } }: { readonly line: DiffLine }) {
  return (
    <>
      {parts.map(({ text, isChanged }, index) =>
        isChanged ? (
          <mark key={index}>
            <Plain text={text} />
          </mark>
        ) : (
          <Plain key={index} text={text} />
        ),
      )}
    </>
  )
}

function GapRows({ gap }: { readonly gap: Gap }) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen)
    return (
      <>
        {gap.lines
          .slice(0, MOST_UNFOLDED)
          .map((line) =>
            isWide.value ? (
              <PairRow key={line.after} row={{ kind: 'pair', before: line, after: line }} />
            ) : (
              <LineRow key={line.after} line={line} />
            ),
          )}
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
