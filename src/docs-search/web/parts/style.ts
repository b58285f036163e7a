/** How the pages look: one calm column of text, the system's own letters, light or dark as the reader has it. */
export const STYLE = `:root {
  color-scheme: light dark;
  --paper: #fcfbf8; --raised: #fff; --ink: #1e2226; --soft: #585e66; --line: #dedbd3; --strong: #85827a;
  --link: #14506a; --mark: #ffe58f; --mark-ink: #2b2100; --found: #c9971a; --button: #1d5a73; --button-ink: #fff;
  --bad: #8c1d18; --bad-paper: #fdf0ee;
  --text: ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Hiragino Sans GB', 'Microsoft YaHei', 'Noto Sans CJK SC', 'WenQuanYi Micro Hei', sans-serif;
  --reading: ui-serif, 'Iowan Old Style', 'Charter', 'Georgia', 'Noto Serif', 'Songti SC', 'Noto Serif CJK SC', serif;
  --code: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'Noto Sans Mono', 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --raised: #1c2024; --ink: #dfe2e5; --soft: #a3a9b1; --line: #2f353b; --strong: #7d858e;
    --link: #8cc8e6; --mark: #5f4a0c; --mark-ink: #fff4cf; --found: #c59a35; --button: #7fbfde; --button-ink: #0e1a21;
    --bad: #ffb4ab; --bad-paper: #2b1a18;
  }
}
*, ::before, ::after { box-sizing: border-box }
html { background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 var(--text); -webkit-text-size-adjust: 100%; scroll-padding-top: 1.5rem }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; overflow-wrap: anywhere }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em }
a:hover { text-decoration-thickness: 2px }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; font-weight: 650; text-wrap: balance }
ol, ul { padding: 0; margin: 0; list-style: none }
.skip { position: absolute; left: -100vw; background: var(--raised); padding: .6rem 1rem; z-index: 1 }
.skip:focus { left: .5rem; top: .5rem }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.soft { color: var(--soft) }

.top, main, .bottom { width: 100%; max-width: 44rem; margin: 0 auto; padding: 0 1.25rem }
.wide .top, .wide main, .wide .bottom { max-width: 68rem }
.top { padding-top: 1.5rem }
.name { display: flex; justify-content: space-between; align-items: center; gap: 1rem; margin-bottom: 1.1rem; min-height: 2.2rem }
.name > a { color: inherit; font-weight: 650; text-decoration: none; display: flex; align-items: center; gap: .55rem }
.name > a:hover { text-decoration: underline }
.name img { width: 1.5rem; height: 1.5rem }
main { flex: 1; padding-top: 1.75rem; padding-bottom: 3rem }
main:focus { outline: none }
.bottom { padding-top: 1rem; padding-bottom: 1.5rem; color: var(--soft); font-size: .875rem }
.bottom p { border-top: 1px solid var(--line); margin: 0; padding-top: 1rem }

button, input, select { font: inherit; color: inherit }
.box { display: flex; gap: .5rem }
.box input, .sign-in input { flex: 1; min-width: 0; background: var(--raised); border: 1px solid var(--strong); border-radius: .5rem; padding: .6rem .85rem }
.box input { font-size: 1.125rem }
button { background: var(--button); color: var(--button-ink); border: 1px solid var(--button); border-radius: .5rem; padding: .6rem 1.15rem; font-weight: 600; cursor: pointer }
button:hover { filter: brightness(1.1) }
button.quiet { background: none; border-color: transparent; color: var(--soft); font-weight: 400; font-size: .9375rem; padding: .35rem .5rem; text-decoration: underline; text-underline-offset: .18em; text-decoration-thickness: 1px }
.choices { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem 1.1rem; margin-top: .7rem; font-size: .9375rem }
.choices fieldset { display: contents }
.choices label { display: inline-flex; align-items: center; gap: .4rem; min-height: 2rem; cursor: pointer }
.choices input { accent-color: var(--button); width: 1.05rem; height: 1.05rem; margin: 0 }
.choices select { background: var(--raised); border: 1px solid var(--strong); border-radius: .4rem; padding: .25rem .5rem; max-width: 46vw }

.count { color: var(--soft); margin: 0 0 1.5rem; font-weight: 400; font-size: 1rem }
.notice { border-left: 3px solid var(--found); padding: .1rem 0 .1rem .9rem; margin: 0 0 1.5rem; color: var(--soft) }
.results > li { margin-bottom: 2rem }
.results h2 { font-size: 1.1875rem; margin: 0 }
.results .under { margin: .1rem 0 0; font-size: .9375rem }
.results .where { margin: 0; color: var(--soft); font-size: .875rem }
.snippet { margin: .4rem 0 0; max-width: 68ch }
.snippet b { font-weight: 600 }
.snippet > * { margin: 0 0 .4em }
.snippet > :last-child { margin-bottom: 0 }
.snippet pre { font: .8125rem/1.5 var(--code); white-space: pre-wrap; tab-size: 4; padding: .4rem .7rem; background: var(--raised); border: 1px solid var(--line); border-radius: .4rem }
.snippet .plain { white-space: pre-wrap }
.reading li, .snippet li { margin: .15em 0 }
.reading ul, .snippet ul { list-style: disc; padding-left: 1.5em }
.reading ol, .snippet ol { list-style: decimal; padding-left: 1.8em }
.reading > ul, .reading > ol, .found > ul, .found > ol { margin: 0 0 1em }
.reading li > p:last-child { margin-bottom: .35em }
blockquote { margin: 0 0 1em; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft) }
blockquote > :last-child { margin-bottom: 0 }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.5em 0 }
.table { overflow-x: auto; margin: 0 0 1.2em }
table { border-collapse: collapse; font: .9375rem/1.45 var(--text) }
th, td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: start; vertical-align: top; overflow-wrap: break-word; min-width: 4rem }
th { background: var(--raised); font-weight: 600 }
kbd { font-family: var(--code); font-size: .875em; border: 1px solid var(--strong); border-radius: .3em; padding: .05em .45em }
mark { background: var(--mark); color: var(--mark-ink); border-radius: .2em; padding: .05em .1em; margin: 0 -.1em }
.pages { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2.5rem }
.pages > :last-child { text-align: right }
.advice li { margin: .5rem 0 .5rem 1.2rem; list-style: disc }
.collections > li, .documents > li { border-bottom: 1px solid var(--line); padding: .7rem 0 }
.collections > li { display: flex; justify-content: space-between; gap: 1rem }
.documents .where { color: var(--soft); font-size: .875rem; display: block }
h1 { font-size: 1.625rem; margin: 0 0 .75rem }
.start h1 { margin-top: 1rem; font-size: 1.25rem }

.sign-in { max-width: 30rem; margin: 10vh auto 0 }
.sign-in form { margin: 1.5rem 0 }
.sign-in label { display: block; font-weight: 600; margin-bottom: .35rem }
.sign-in .box input { font-family: var(--code) }
.error { background: var(--bad-paper); color: var(--bad); border-radius: .5rem; padding: .7rem 1rem; margin: 0 0 1.25rem }
code { font-family: var(--code); font-size: .9em }
.reading :not(pre) > code, .snippet :not(pre) > code { background: var(--raised); border: 1px solid var(--line); border-radius: .25em; padding: .05em .25em }

.crumbs { color: var(--soft); font-size: .9375rem; margin: 0 0 .35rem }
.document { display: grid; gap: 1.5rem 3.5rem; grid-template-columns: minmax(0, 1fr) }
.beside { font-size: .9375rem; line-height: 1.45 }
.beside summary { cursor: pointer; font-weight: 650; padding: .3rem 0 }
.beside nav { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; margin-bottom: 1rem; background: var(--raised) }
.beside li a { display: block; padding: .22rem 0; text-decoration: none }
.beside li a:hover { text-decoration: underline }
.wide .crumbs { margin-bottom: 1rem }
.d2 { padding-left: .9rem } .d3 { padding-left: 1.8rem } .d4, .d5, .d6 { padding-left: 2.7rem }
.reading { max-width: 68ch; min-width: 0; font: 1.125rem/1.65 var(--reading) }
.reading h1, .reading h2, .reading h3, .reading h4, .reading h5, .reading h6 { font-family: var(--text); margin: 1.9em 0 .6em }
.reading > :first-child { margin-top: 0 }
.reading h1 { font-size: 1.75rem } .reading h2 { font-size: 1.375rem } .reading h3 { font-size: 1.1875rem }
.reading h4, .reading h5, .reading h6 { font-size: 1.0625rem }
.reading h1 + h2, .reading h2 + h3, .reading h3 + h4 { margin-top: 1em }
.reading p { margin: 0 0 1em }
.reading p.plain { white-space: pre-wrap }
.reading pre { font: .875rem/1.55 var(--code); white-space: pre-wrap; tab-size: 4; margin: 0 0 1.2em; padding: .8rem 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: .5rem }
.found { border-left: 3px solid var(--found); margin: 0 0 1em -1.1rem; padding-left: calc(1.1rem - 3px) }
.found > :first-child, .reading > .found:first-child > :first-child { margin-top: 0 }
.found > :last-child { margin-bottom: 0 }
* + .found:has(> h2:first-child) { margin-top: 2.4em }
* + .found:has(> h3:first-child, > h4:first-child, > h5:first-child, > h6:first-child) { margin-top: 1.8em }
:target { scroll-margin-top: 1.5rem }
.reading :target { animation: arrive 2.5s }
@keyframes arrive { from { background: color-mix(in srgb, var(--mark) 55%, transparent) } }
@media (prefers-reduced-motion: reduce) { .reading :target { animation: none } }

@media (min-width: 64rem) {
  .document { grid-template-columns: minmax(0, 68ch) 17rem; justify-content: space-between }
  .beside { grid-column: 2; grid-row: 1; position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto }
  .reading { grid-column: 1; grid-row: 1 }
}
@media (max-width: 64rem) { .beside ol { max-height: 45vh; overflow-y: auto } }
@media (max-width: 30rem) {
  html { font-size: 1rem }
  .top { padding-top: 1rem }
  .box button { padding-inline: .9rem }
  .reading { font-size: 1.0625rem }
}
@media (forced-colors: active) { mark { outline: 1px solid } }
@media print {
  :root { --paper: #fff; --raised: #fff; --ink: #000; --soft: #333; --line: #bbb; --link: #000; --mark: #fff; --mark-ink: #000 }
  form, .skip, .beside, .pages, .bottom { display: none }
  main, .wide main { max-width: none; padding: 0 }
  .reading, .snippet { font-size: 11pt; max-width: none }
  .reading pre { overflow: visible }
  mark { text-decoration: underline; text-decoration-thickness: 2px }
  h1, h2, h3, h4 { break-after: avoid }
}
`
