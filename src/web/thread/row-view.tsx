/** One row of a conversation. */
import type { EndItem, MessageItem } from '../../client/transcript/items.ts'
import { clockTime, count, duration, languageOf, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { MAX_CHARS } from '../markdown/growing-markdown.ts'
import { Markdown, MarkdownBlocks } from '../markdown/markdown.tsx'
import { CopyButton, IconButton } from '../page/controls.tsx'
import { memo } from '../page/memo.ts'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { CallView } from '../tools/call-view.tsx'
import { Blocks } from './content-blocks.tsx'
import type { Folds } from './folds.ts'
import { messageText } from './conversation.ts'
import { type AnswerRow, type CutRow, type ThreadRow, type Step, tookMs } from './rows.ts'

interface Props {
  readonly app: App
  readonly row: ThreadRow
  readonly session: OpenSession
  readonly folds: Folds
  /** It is the last row of a turn that runs. */
  readonly isGrowing: boolean
}

export const RowView = memo(({ app, row, session, folds, isGrowing }: Props) => {
  switch (row.kind) {
    case 'prompt':
      return <Prompt app={app} session={session} item={row.item} />
    case 'answer':
      return <Answer app={app} session={session} row={row} isGrowing={isGrowing} />
    case 'thought':
      return <Thought item={row.item} folds={folds} isGrowing={isGrowing} />
    case 'call':
      return <CallView item={row.item} session={session} folds={folds} />
    case 'steps':
      return <Steps items={row.items} session={session} folds={folds} id={row.key} />
    case 'notice':
      return <p class="line notice">{row.text}</p>
    case 'end':
      return <End item={row.item} session={session} />
    case 'cut':
    case 'failed':
      return <Cut row={row} session={session} />
  }
})

interface MessageProps {
  readonly app: App
  readonly session: OpenSession
  readonly item: MessageItem
}

function Prompt({ app, session, item }: MessageProps) {
  const { prompt, promptBy, editInFork } = words()
  const before = (item.seq?.first ?? 0) - 1
  const name = item.by === undefined ? prompt : promptBy(spelledOut(item.by))
  const time = timeOf(item)
  const text = messageText(item)
  return (
    <article class="prompt" aria-label={time === '' ? name : `${name}, ${time}`} lang={languageOf(text)}>
      <h2 class="meta">
        {item.by !== undefined && <span>{spelledOut(item.by)}</span>}
        {time !== '' && <time>{time}</time>}
        {item.by === undefined && time === '' && <span class="hidden">{name}</span>}
      </h2>
      <div class="said">{text}</div>
      <Blocks content={item.content} />
      {before > 0 && (
        <div class="after">
          <IconButton
            icon="edit"
            label={editInFork}
            onPress={() => void app.fork(session.id, { at: before, draft: text })}
          />
        </div>
      )}
    </article>
  )
}

interface AnswerProps {
  readonly app: App
  readonly session: OpenSession
  readonly row: AnswerRow
  readonly isGrowing: boolean
}

function Answer({ app, session, row: { item, part }, isGrowing }: AnswerProps) {
  const text = part?.isLast === false ? part.raw : messageText(item)
  const { answer, answerGoesOn } = words()
  const goesOn = part !== undefined && part.index > 0
  return (
    <article
      class={goesOn ? 'answer more' : 'answer'}
      aria-label={goesOn ? answerGoesOn : answer}
      lang={languageOf(part?.raw ?? text)}
    >
      {part === undefined ? <Markdown text={text} isWhole={!isGrowing} /> : <MarkdownBlocks blocks={part.blocks} />}
      {part?.isLast !== false && (
        <>
          {part !== undefined && text.length > MAX_CHARS && <Rest id={item.id} text={text} folds={session.folds} />}
          <Blocks content={item.content} />
        </>
      )}
      {part?.isLast !== false && !isGrowing && (
        <div class="after">
          <CopyButton text={text} />
          {item.seq !== undefined && (
            <IconButton
              icon="fork"
              label={words().forkHere}
              onPress={() => void app.fork(session.id, { at: item.seq?.last })}
            />
          )}
          <time>{timeOf(item)}</time>
        </div>
      )}
    </article>
  )
}

/** What is only shown when the reader asks for it. */
function Rest({ id, text, folds }: { readonly id: string; readonly text: string; readonly folds: Folds }) {
  if (folds.isOpen(`all ${id}`)) return <Markdown text={text.slice(MAX_CHARS)} isWhole />
  return (
    <button type="button" class="quiet" onClick={() => folds.set(`all ${id}`, true)}>
      {words().cutLong(count(text.length))}
    </button>
  )
}

function Thought({
  item,
  folds,
  isGrowing,
}: {
  readonly item: MessageItem
  readonly folds: Folds
  readonly isGrowing: boolean
}) {
  const isOpen = folds.isOpen(item.id)
  const text = messageText(item)
  return (
    <div class="fold thought">
      <button type="button" class="summary" aria-expanded={isOpen} onClick={() => folds.set(item.id, !isOpen)}>
        <Icon name={isOpen ? 'open' : 'shut'} />
        {isGrowing ? words().thinking : words().thought(duration(tookMs(item)))}
      </button>
      {isOpen && (
        <div class="inside" lang={languageOf(text)}>
          <Markdown text={text} isWhole={!isGrowing} />
        </div>
      )}
    </div>
  )
}

function Steps({
  items,
  session,
  folds,
  id,
}: {
  readonly items: readonly Step[]
  readonly session: OpenSession
  readonly folds: Folds
  readonly id: string
}) {
  const isOpen = folds.isOpen(id)
  const calls = items.filter(({ kind }) => kind === 'tool_call')
  const took = duration(totalMs(items))
  return (
    <div class="fold steps">
      <button type="button" class="summary" aria-expanded={isOpen} onClick={() => folds.set(id, !isOpen)}>
        <Icon name={isOpen ? 'open' : 'shut'} />
        <span>
          {words().steps(calls.length)}
          {took !== '' && <span class="soft">, {took}</span>}
        </span>
        <span class="soft kinds">{kindsOf(items)}</span>
      </button>
      {isOpen && (
        <div class="inside">
          {items.map((item) =>
            item.kind === 'message' ? (
              <Thought key={item.id} item={item} folds={folds} isGrowing={false} />
            ) : (
              <CallView key={item.id} item={item} session={session} folds={folds} />
            ),
          )}
        </div>
      )}
    </div>
  )
}

/** `read 5 · search 2`. */
function kindsOf(items: readonly Step[]): string {
  const counts = new Map<string, number>()
  for (const item of items) {
    if (item.kind !== 'tool_call') continue
    const kind = item.call.kind ?? 'other'
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const { kinds } = words()
  return [...counts]
    .map(([kind, count]) => `${(kinds[kind] ?? kinds['other'] ?? kind).toLowerCase()} ${count}`)
    .join(' · ')
}

function totalMs(items: readonly Step[]): number | undefined {
  const [first, last] = [items[0]?.at, items.at(-1)?.at]
  return first === undefined || last === undefined ? undefined : last.last - first.first
}

/** How the server says that the turn was cut where a session was forked or exported. */
const COPIED = /^Interrupted: this session was /u

function Cut({ row, session }: { readonly row: CutRow; readonly session: OpenSession }) {
  const { cut, cutCopy, failed, continue: goOn, askAgain, continuePrompt } = words()
  // Whether it is the last changes with what comes.
  const isLast = session.talk.changes.value >= 0 && session.talk.items.at(-1)?.id === row.key
  return (
    <div class={`line cut ${row.kind}`}>
      <p>
        <span class="state interrupted" aria-hidden="true">
          !
        </span>{' '}
        {row.kind === 'cut' ? (COPIED.test(row.text) ? cutCopy : cut) : row.text.replace(/^This turn failed:/u, failed)}
        {row.at !== undefined && <time> {clockTime(row.at)}</time>}
      </p>
      {isLast && (
        <p class="ways">
          {row.kind === 'cut' && (
            <button type="button" onClick={() => session.sendNew(continuePrompt)}>
              {goOn}
            </button>
          )}
          <button type="button" class="second" onClick={() => session.askAgain()}>
            {askAgain}
          </button>
        </p>
      )}
    </div>
  )
}

/** A turn that a person, the agent or a limit has stopped. */
function End({ item, session }: { readonly item: EndItem; readonly session: OpenSession }) {
  const { stopped, stoppedBy, ended, continue: goOn, continuePrompt } = words()
  const { stopReason, by } = item
  const isStopped = stopReason === 'cancelled'
  const isLast = session.talk.changes.value >= 0 && session.talk.items.at(-1)?.id === item.id
  const time = timeOf(item)
  return (
    <div class="line end">
      <p>
        <Icon name="stop" />
        {isStopped ? (by === undefined ? stopped : stoppedBy(spelledOut(by))) : (ended[stopReason] ?? ended['other'])}
        {time !== '' && <time> {time}</time>}
      </p>
      {isLast && stopReason.startsWith('max_') && (
        <button type="button" onClick={() => session.sendNew(continuePrompt)}>
          {goOn}
        </button>
      )}
    </div>
  )
}

function timeOf({ at }: EndItem | MessageItem): string {
  return at === undefined ? '' : clockTime(at.first)
}
