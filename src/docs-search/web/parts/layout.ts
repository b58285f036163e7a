/** The layout of every page: head, search box, sign-out and language. */
import { createHash } from 'node:crypto'
import { MODES, type SearchMode, NO_QUESTION, type SearchQuestion, searchAddress } from '../site/addresses.ts'
import { type Html, html, markupOf } from './html.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/** A file whose address contains a hash of its content, so that browsers may cache it for ever. */
export interface Asset {
  readonly address: string
  readonly type: string
  readonly text: string
}

const style = asset('style.css', 'text/css', STYLE)
const script = asset('script.js', 'text/javascript', SCRIPT)
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="3" width="22" height="26" rx="3" fill="#1d5a73"/><path d="M10 10h12M10 22h9" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/><path d="M10 16h12" stroke="#ffd866" stroke-width="4" stroke-linecap="round"/></svg>`
const icon = asset('icon.svg', 'image/svg+xml', ICON)
export const ASSETS: readonly Asset[] = [style, script, icon]

function asset(name: string, type: string, text: string): Asset {
  const version = createHash('sha256').update(text).digest('hex').slice(0, 10)
  return { address: `/page/${version}/${name}`, type: `${type}; charset=utf-8`, text }
}

/** The collections that the search box offers to the signed-in user. */
export interface SignedInReader {
  readonly collections: readonly string[]
}

export interface PageFrame {
  readonly title: string
  /** Absent on the sign-in page. */
  readonly reader: SignedInReader | null
  readonly question?: SearchQuestion
  /** Two columns. */
  readonly wide?: boolean
  /** Whether the search box has the focus. */
  readonly writing?: boolean
  readonly content: Html
}

const SITE_NAME = 'Documents'

export function htmlPageOf({
  title,
  reader,
  question = NO_QUESTION,
  wide = false,
  writing = false,
  content,
}: PageFrame): string {
  const header = reader === null ? null : headerOf(reader, question, writing)
  return markupOf(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title === '' ? SITE_NAME : `${title} – ${SITE_NAME}`}</title>
          <link rel="icon" href="${icon.address}" type="image/svg+xml" />
          <link rel="stylesheet" href="${style.address}" />
          <script src="${script.address}" defer></script>
        </head>
        <body class="${wide ? 'wide' : ''}">
          <a class="skip" href="#parley-main">Skip to the content</a>
          ${header}
          <main id="parley-main" tabindex="-1">${content}</main>
          <footer class="bottom"><p>Served by parley docs.</p></footer>
        </body>
      </html> `,
  )
}

function headerOf(reader: SignedInReader, question: SearchQuestion, writing: boolean): Html {
  return html`<header class="top">
    <div class="name">
      <a href="/"><img src="${icon.address}" alt="" width="24" height="24" />${SITE_NAME}</a>
      <form action="/sign-out" method="post"><button class="quiet">Sign out</button></form>
    </div>
    <search>
      <form action="/" method="get">
        <div class="box">
          <label class="hidden" for="parley-q">Search the documents</label>
          <input
            type="search"
            id="parley-q"
            name="q"
            value="${question.query}"
            maxlength="1000"
            placeholder="Search the documents"
            autocomplete="off"
            spellcheck="false"
            enterkeyhint="search"
            dir="auto"
            ${writing ? html` autofocus` : null}
          />
          <button>Search</button>
        </div>
        <div class="choices">
          <fieldset>
            <legend class="hidden">What to find</legend>
            ${MODES.map((mode) => choice(mode, question.mode))}
          </fieldset>
          ${scope(reader, question)}
        </div>
      </form>
    </search>
  </header>`
}

const MODE_NAMES: Readonly<Record<SearchMode, string>> = {
  best: 'best matches',
  all: 'all the words',
  phrase: 'the exact phrase',
}

function choice(mode: SearchMode, chosen: SearchMode): Html {
  return html`<label
    ><input
      type="radio"
      name="mode"
      value="${mode}"
      ${mode === chosen ? html` checked` : null}
    />${MODE_NAMES[mode]}</label
  >`
}

function scope({ collections }: SignedInReader, { collection }: SearchQuestion): Html | null {
  if (collections.length < 2 && collection === '') return null
  const options = collections.map(
    (name) => html`<option value="${name}" ${name === collection ? html` selected` : null}>${name}</option>`,
  )
  return html`<label
    >in
    <select name="in">
      <option value="">all collections</option>
      ${options}
    </select></label
  >`
}

/** One sentence that says what went wrong and what to do. */
export function problemPage(title: string, sentence: string, next?: Html): Html {
  return html`<h1>${title}</h1>
    <p class="error" role="alert">${sentence}</p>
    ${next ?? null}`
}

export function linkTo(question: SearchQuestion, text: string): Html {
  return html`<a href="${searchAddress(question)}">${text}</a>`
}

export function noticeBlock(notice: string | undefined): Html | null {
  return notice === undefined ? null : html`<p class="notice">${notice}</p>`
}

/** Names of files and titles may run in either direction, and must not turn what stands beside them. */
export function name(text: string): Html {
  return html`<bdi>${text}</bdi>`
}

export function dateOf(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)}</time>`
}

/** The language of a text as far as its letters show it. Browsers choose fonts and voices by it. */
export function pageLanguageOf(text: string): Html | null {
  if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text)) return html` lang="ja"`
  return /\p{sc=Han}/u.test(text) ? html` lang="zh"` : null
}
