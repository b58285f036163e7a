/** Looks for words in one session, also where it is not loaded: the index of the server is asked, and what is here is read. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Item } from '../../client/transcript/items.ts'
import { words } from '../i18n/language.ts'
import { IconButton } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { useSearch } from '../sessions/search.ts'
import { firstWordIn, rangesIn, useFoundWords } from './found-words.ts'
import { messageText } from '../thread/conversation.ts'

const MAX_HITS = 200

interface Props {
  readonly app: App
  readonly session: OpenSession
  readonly find: string
  readonly seq: number | undefined
  /** Brings what stands this far below the top of the found row into view. */
  readonly toWord: (offset: number) => void
}

export function FindBar({ app, session, find, seq, toWord }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const { hits, trouble } = useHits(app, session, find)
  useFoundWords(find, useWordInView(find, seq, toWord))
  useLayoutEffect(() => {
    const { place } = app.router
    // With a place it comes from a search, whose reader goes on to read.
    if (seq !== undefined || input.current === null || place.value.screen !== 'session') return
    // Letters may have come since this was drawn; the next one is written behind them.
    input.current.value = place.value.find ?? ''
    input.current.focus()
  }, [])
  const at = seq === undefined ? hits.length : hits.findLastIndex((one) => one <= seq)
  const go = (to: number | undefined): void => {
    if (to !== undefined) app.router.go({ screen: 'session', id: session.id, seq: to, find }, 'replace')
  }
  const older = (): void => go(hits[at - 1] ?? hits.at(-1))
  const newer = (): void => go(hits[at + 1] ?? hits[0])
  const shut = (): void => app.router.go({ screen: 'session', id: session.id, seq: undefined }, 'replace')
  const { findHere, findOlder, findNewer, findCount, nothingFound, close } = words()
  return (
    <search class="find">
      <input
        type="search"
        ref={input}
        aria-label={findHere}
        placeholder={findHere}
        value={find}
        onInput={({ currentTarget }) =>
          app.router.go({ screen: 'session', id: session.id, seq: undefined, find: currentTarget.value }, 'replace')
        }
        onKeyDown={(event) => {
          if (event.isComposing) return
          if (event.key === 'Escape') shut()
          if (event.key === 'Enter' && event.shiftKey) newer()
          else if (event.key === 'Enter') older()
        }}
      />
      <span class="soft" role="status">
        {trouble !== ''
          ? trouble
          : find.trim() === ''
            ? ''
            : hits.length === 0
              ? nothingFound
              : findCount(hits.length - Math.min(at, hits.length - 1), hits.length, seq !== undefined)}
      </span>
      <IconButton icon="up" label={findOlder} onPress={older} />
      <IconButton icon="down" label={findNewer} onPress={newer} />
      <IconButton icon="close" label={close} onPress={shut} />
    </search>
  )
}

/** A long row has its words far below its top. Called when they are marked; does it once for each place that is gone to. */
function useWordInView(find: string, seq: number | undefined, toWord: (offset: number) => void): () => void {
  const done = useRef<number>(undefined)
  return () => {
    const row = document.querySelector('.rows .row.found')
    if (row === null || seq === undefined || done.current === seq) return
    const view = row.closest('.rows')?.getBoundingClientRect()
    const word = firstWordIn(row, find)
    if (word === undefined || view === undefined) return
    done.current = seq
    if (word.top < view.top || word.bottom > view.bottom) toWord(word.top - row.getBoundingClientRect().top)
  }
}

/** The entries that have the words, the oldest first. */
function useHits(app: App, session: OpenSession, find: string) {
  const { result, trouble } = useSearch(app, find, { limit: MAX_HITS, sessionId: session.id })
  const changes = session.talk.changes.value
  const here = useMemo(() => hitsIn(session.talk.items, find), [find, changes])
  const hits = useMemo(() => {
    const indexed = result?.passages.flatMap(({ by, seq }) => (by === 'title' ? [] : [seq])) ?? []
    return [...new Set([...indexed, ...here])].toSorted((one, other) => one - other)
  }, [result, here])
  return { hits, trouble }
}

/** What the index may not have yet: the items that are here. */
function hitsIn(items: readonly Item[], find: string): readonly number[] {
  return items.flatMap((item) => {
    if (item.kind !== 'message' || item.seq === undefined) return []
    return rangesIn(messageText(item), find).length > 0 ? [item.seq.first] : []
  })
}
