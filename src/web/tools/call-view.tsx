/** A tool call: one line that says what and how it went; open, all that it took and gave. */
import type { ToolCallItem } from '../../client/transcript/items.ts'
import type { ToolCallContent } from '../../client/incoming/updates.ts'
import { clockTime, duration, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { Plain } from '../markdown/plain.tsx'
import { Icon, kindIcon } from '../page/icons.tsx'
import type { OpenSession } from '../sessions/open-session.ts'
import { Block } from '../thread/content-blocks.tsx'
import type { Folds } from '../thread/folds.ts'
import { tookMs } from '../thread/rows.ts'
import { LazyDiff } from './lazy-diff.tsx'
import { TerminalOutputView, looksLikeOutput } from './terminal-output.tsx'

interface Props {
  readonly item: ToolCallItem
  readonly session: OpenSession
  readonly folds: Folds
}

export function CallView({ item, folds }: Props) {
  const { call } = item
  const status = call.status ?? 'pending'
  // What failed stays open, so that it is seen.
  const isOpen = folds.isOpen(item.id, status === 'failed' || hasDiff(item))
  const { kinds, statuses } = words()
  const kind = call.kind ?? 'other'
  return (
    <article class={`fold call ${status}`} aria-label={`${kinds[kind] ?? kind}: ${spelledOut(call.title ?? '')}`}>
      <button type="button" class="summary" aria-expanded={isOpen} onClick={() => folds.set(item.id, !isOpen)}>
        <Icon name={isOpen ? 'open' : 'shut'} />
        <Icon name={kindIcon(kind)} />
        <span class="title">
          <Plain text={call.title ?? kinds[kind] ?? kind} />
        </span>
        <span class="soft took">{duration(tookMs(item))}</span>
        <span class={`status ${status}`} title={statuses[status] ?? status}>
          {MARKS[status] ?? '●'}
          <span class="hidden">{statuses[status] ?? status}</span>
        </span>
      </button>
      <Permitted item={item} />
      {isOpen && <Inside item={item} />}
    </article>
  )
}

const MARKS: Readonly<Record<string, string>> = { completed: '✓', failed: '!', cancelled: '×', pending: '…' }

function hasDiff({ call }: ToolCallItem): boolean {
  return call.content?.some(({ type }) => type === 'diff') === true
}

/** Who has answered the question about this call, and how. */
function Permitted({ item }: { readonly item: ToolCallItem }) {
  const { permission } = item
  if (permission?.resolved === undefined) return null
  const { outcome, by, at } = permission.resolved
  const option = permission.options?.find(({ optionId }) => optionId === outcome.optionId)
  const { answeredAs, answeredElsewhere, byName, roles } = words()
  const isNo = (option?.kind ?? outcome.kind ?? '').startsWith('reject') || outcome.outcome === 'cancelled'
  const name = option?.name ?? outcome.optionId
  return (
    <p class={`permitted ${isNo ? 'no' : 'yes'}`}>
      <span aria-hidden="true">{isNo ? '×' : '✓'}</span>{' '}
      {name === undefined
        ? outcome.outcome === 'elsewhere'
          ? answeredElsewhere
          : (roles['none'] ?? outcome.outcome)
        : answeredAs(spelledOut(name))}
      {by !== undefined && ` ${byName(spelledOut(by))}`}
      {at !== undefined && `, ${clockTime(at)}`}
    </p>
  )
}

function Inside({ item: { call, seq } }: { readonly item: ToolCallItem }) {
  const { input, raw } = words()
  return (
    <div class="inside">
      {call.locations?.map(({ path, line }) => (
        <p key={`${path}:${line}`} class="location">
          <Plain text={line === undefined || line === null ? path : `${path}:${line}`} />
        </p>
      ))}
      {call.rawInput !== undefined && call.rawInput !== null && (
        <details>
          <summary>{input}</summary>
          <pre tabIndex={0}>
            <Plain text={inputText(call.rawInput)} />
          </pre>
        </details>
      )}
      {call.content?.map((part, index) => (
        <Part key={index} part={part} kind={call.kind ?? ''} />
      ))}
      {(call.content ?? []).length === 0 && call.rawOutput !== undefined && (
        <pre tabIndex={0}>
          <Plain text={jsonText(call.rawOutput)} />
        </pre>
      )}
      <details class="raw">
        <summary>{raw}</summary>
        <pre tabIndex={0}>
          <Plain text={jsonText({ ...call, seq })} />
        </pre>
      </details>
    </div>
  )
}

function Part({ part, kind }: { readonly part: ToolCallContent; readonly kind: string }) {
  if (part.type === 'diff')
    return <LazyDiff path={part.path ?? ''} before={part.oldText ?? ''} after={part.newText ?? ''} />
  const { content } = part
  if (content === undefined) return null
  if (content.type !== 'text') return <Block content={content} />
  const text = content.text ?? ''
  if (kind === 'execute' || looksLikeOutput(text)) return <TerminalOutputView output={text} />
  return kind === 'read' || kind === 'search' ? <TerminalOutputView output={text} /> : <Markdown text={text} isWhole />
}

/** A command is read as one, not as JSON. */
function inputText(input: unknown): string {
  const { command } = (typeof input === 'object' && input !== null ? input : {}) as { readonly command?: unknown }
  const isOnly = typeof command === 'string' && Object.keys(input as object).length === 1
  return isOnly ? command : jsonText(input)
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? String(value))
}
