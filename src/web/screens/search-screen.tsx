/** Search over all sessions; a hit opens its session at the passage. */
import type { FoundPassage } from '../../client/connection/responses.ts'
import { words } from '../i18n/language.ts'
import { piecesOf, spelledOut } from '../markdown/invisible.ts'
import { IconButton } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { addressOf } from '../sessions/place.ts'
import { useSearch } from '../sessions/search.ts'
import { plainText } from '../tools/ansi.ts'

const MAX_PASSAGES = 50
/** Around the first hit. */
const BEFORE = 60
const LENGTH = 260

export function SearchScreen({ app, query }: { readonly app: App; readonly query: string }) {
  const { result, trouble } = useSearch(app, query, { limit: MAX_PASSAGES })
  const { search, findHint, back, passages, nothingFound, moreFound } = words()
  return (
    <main class="screen" id="main" tabIndex={-1}>
      <header class="screen-head">
        <IconButton icon="back" label={back} onPress={() => app.router.back()} />
        <h1>{search}</h1>
      </header>
      <form class="form" role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label={findHint}
          placeholder={findHint}
          autoFocus
          value={query}
          onInput={({ currentTarget }) => app.router.go({ screen: 'search', query: currentTarget.value }, 'replace')}
        />
      </form>
      {trouble !== '' && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      <p class="soft" role="status">
        {result === undefined ? '' : result.passages.length === 0 ? nothingFound : passages(result.passages.length)}
        {result?.more === true && ` · ${moreFound}`}
      </p>
      <ol class="hits">
        {result?.passages.map((passage) => (
          <Hit key={`${passage.sessionId} ${passage.seq} ${passage.by}`} app={app} passage={passage} query={query} />
        ))}
      </ol>
    </main>
  )
}

function Hit({ app, passage, query }: { readonly app: App; readonly passage: FoundPassage; readonly query: string }) {
  const { sessionId, seq, title, by } = passage
  const { untitled, roles } = words()
  const place = { screen: 'session', id: sessionId, seq: by === 'title' ? undefined : seq, find: query } as const
  return (
    <li>
      <a
        href={addressOf(place, app.router.filter.value)}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          app.router.go(place)
        }}
      >
        <span class="title">{title === undefined || title === '' ? untitled : spelledOut(title)}</span>{' '}
        <span class="soft">· {roles[by] ?? by}</span>
        <span class="snippet">
          <Snippet passage={passage} />
        </span>
      </a>
    </li>
  )
}

function Snippet({ passage: { text, highlights } }: { readonly passage: FoundPassage }) {
  const start = Math.max(0, (highlights[0]?.[0] ?? 0) - BEFORE)
  const end = start + LENGTH
  const marks = highlights.filter(([from, to]) => from >= start && to <= end)
  const ends = [start, ...marks.flatMap(([from, to]) => [from, to]), Math.min(end, text.length)]
  return (
    <>
      {start > 0 && '…'}
      {ends.slice(0, -1).map((from, index) => {
        const piece = piecesOf(plainText(text.slice(from, ends[index + 1])))
          .map((one) => (typeof one === 'string' ? one : '·'))
          .join('')
        return index % 2 === 1 ? <mark key={from}>{piece}</mark> : piece
      })}
      {end < text.length && '…'}
    </>
  )
}
