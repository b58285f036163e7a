/** Text that attacks who shows it, mutations of it from a seed, and what must be true of each as the page reads it. */
import { tokensOrText } from '../../src/markdown/bounded-lexer.ts'
import { type Element, type Node, blocks } from '../../src/web/markdown/elements.ts'
import { GrowingMarkdown } from '../../src/web/markdown/growing-markdown.ts'
import { spelledOut } from '../../src/web/markdown/invisible.ts'
import { linesOf } from '../../src/web/tools/ansi.ts'
import { chanceOf } from '../series/chance.ts'

const ESC = '\u001b'

export const HOSTILE: readonly string[] = [
  '<img src=x onerror="window.evil=1">',
  '<script>window.evil=1</script>',
  '<svg/onload="window.evil=1">',
  '<iframe srcdoc="<script>window.evil=1</script>" src="https://evil.example"></iframe>',
  '<style>*{display:none}</style>',
  '<math><mi//xlink:href="data:x,<script>window.evil=1</script>">',
  '<details open ontoggle="window.evil=1">',
  '<input autofocus onfocus="window.evil=1">',
  '<a href="jav&#x09;ascript:window.evil=1" style="position:fixed">x</a>',
  '<link rel=stylesheet href=//evil.example><base href=//evil.example><meta http-equiv=refresh content="0;//evil.example">',
  '<object data=//evil.example><embed src=//evil.example><video src=//evil.example poster=//evil.example>',
  '<form action=//evil.example><button>Allow once</button></form>',
  '<noscript><p title="</noscript><img src=x onerror=window.evil=1>">',
  '<template><script>window.evil=1</script></template><!--><img src=x onerror=window.evil=1>-->',
  '<svg><animate href=#x attributeName=href values=javascript:window.evil=1><a id=x><text y=9>x</text></a>',
  '</div></main></body><h1 id=main>escaped</h1>',
  '{{constructor.constructor("window.evil=1")()}} ${window.evil=1}',
  '[click](javascript:window.evil=1)',
  '[a](jAvAsCrIpT&colon;window.evil=1)',
  '[a](<java\nscript:window.evil=1>)',
  '[x](data:text/html,<script>window.evil=1</script>)',
  '[x](vbscript:window.evil=1) [x](file:///etc/passwd) [x](//evil.example) [x](\\\\evil.example\\x)',
  '[safe.example](https://evil.example)',
  '[https://safe.example/](https://safe.example@evil.example/)',
  '[safe.example](https://evil.example "safe.example") [safe.example](<https://evil.example?safe.example>)',
  '![pixel](https://evil.example/p.png?all=said)',
  '![x](//evil.example/p.png)',
  '![x](data:image/svg+xml;base64,PHN2Zz4=)',
  '[![x](https://evil.example/p.png)](https://evil.example)',
  '<https://evil.example/"onmouseover="window.evil=1>',
  '[a]: javascript:window.evil=1\n\n[a] [b]\n\n[b]: <https://evil.example/x> "safe.example"',
  'see https://xn--pple-43d.com and \u202eexe.txt',
  'p\u0430ypal.com \u200bzero\u200dwidth \ud800 lone \udfff',
  '\u2066https://safe.example\u2069\u202emoc.live//:sptth',
  '\u{e0041}\u{e0042} \ufeff\u00ad\u115f\u3164',
  '`<b>`',
  '```html\n<script>\n```',
  '~~~"><script>\n<img onerror=window.evil=1>\n~~~',
  '&lt;script&gt; &#x3c;img src=x onerror=window.evil=1&#62;',
  '**<b>** *_~~`nested`~~_*',
  '| <b> | [x](data:text/html,1) |\n|-|-|\n| <i> | 2 |',
  '- '.repeat(60),
  '> '.repeat(60),
  '1. - > * '.repeat(15),
  '['.repeat(80),
  '*a '.repeat(80),
  `${ESC}]8;;https://evil.example\u0007link${ESC}]8;;\u0007${ESC}[2J${ESC}[9999;9999H`,
  `${ESC}[31mred\r${ESC}[1Aover${ESC}]0;title${ESC}\\${ESC}P1$r${ESC}\\\u009b32mgreen\u009d0;x\u009c`,
  `${ESC}[38;2;999;-1;1e9;48;5;300m${ESC}[${';'.repeat(99)}m\b\b\b\u0000\u007f`,
  '../../etc/passwd\u0000.png',
  'rm -rf /\u2028# harmless',
]

const SPECIAL = [
  '<',
  '>',
  '(',
  ')',
  '[',
  ']',
  '\\',
  '&#x6A;',
  ':',
  '\0',
  '`',
  '|',
  '\n',
  '\r',
  ESC,
  '\u202e',
  '\ud800',
  '"',
  '*',
  '_',
]
const JOINTS = ['', ' ', '\n', '\n\n', '](', '`', '\n- ', '\n> ', '|']
/** Of one text: mutations repeat parts of it. */
const MAX_CHARS = 4_000

/** Numbers below a limit, from a seed, so that what fails can be made again. */
export function chance(seed: number): (limit: number) => number {
  const numbers = chanceOf(seed)
  return (limit) => numbers.between(0, limit - 1)
}

/** Some of the corpus, put together and changed in up to eight places. */
export function mutated(upTo: (limit: number) => number): string {
  const one = (values: readonly string[]): string => values[upTo(values.length)] ?? ''
  let text = Array.from({ length: 1 + upTo(4) }, () => one(HOSTILE)).join(one(JOINTS))
  for (let changes = upTo(8); changes > 0; changes -= 1) {
    const [from, length] = [upTo(text.length + 1), upTo(20)]
    const [before, part, after] = [text.slice(0, from), text.slice(from, from + length), text.slice(from + length)]
    text =
      before +
      one([part + one(SPECIAL), '', part + part, part.repeat(1 + upTo(12)), part.toUpperCase(), one(HOSTILE) + part]) +
      after
    text = text.slice(0, MAX_CHARS)
  }
  return text
}

const KINDS: ReadonlySet<Element['is']> = new Set<Element['is']>([
  'paragraph',
  'quotation',
  'strong',
  'emphasis',
  'deleted',
  'break',
  'rule',
  'table',
  'row',
  'piece',
  'heading',
  'list',
  'item',
  'link',
  'cell',
  'code block',
  'code',
])
const STYLE = /^(?:(?:(?:[fb]g-(?:1[0-5]|\d)|bold|dim|italic|underline|inverse|struck)(?: |$))*)$/u
// oxlint-disable no-control-regex -- they are what may not be left
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/u
// oxlint-enable no-control-regex

/** What is wrong with how the page would show the text; undefined: nothing. */
export function faultIn(text: string, upTo: (limit: number) => number): string | undefined {
  const read = blocks(tokensOrText(text, { depth: 30, paragraph: 5_000 }))
  const growing = new GrowingMarkdown()
  growing.update(text.slice(0, upTo(text.length + 1)), false)
  growing.update(text, true)
  const unseen = UNSEEN.exec(spelledOut(text))
  const runs = linesOf(text).flat()
  const run = runs.find((one) => CONTROL.test(one.text) || !STYLE.test(one.style))
  return (
    faultOf(read) ??
    faultOf(growing.blocks.flatMap(({ nodes }) => nodes)) ??
    (unseen === null ? undefined : `${JSON.stringify(unseen[0])} is not marked`) ??
    (run === undefined ? undefined : `a terminal shows ${JSON.stringify(run)}`)
  )
}

/** Thirty blocks in each other, of which a list has an item in it, and thirty marks in the words of the last. */
const DEEPEST = 95

function faultOf(nodes: readonly Node[], depth = 0): string | undefined {
  if (depth > DEEPEST) return 'it is nested without end'
  for (const node of nodes) {
    if (typeof node === 'string') continue
    if (!KINDS.has(node.is)) return `there is no element ${node.is}`
    const fault =
      (node.is === 'link' ? faultOfLink(node) : undefined) ??
      ('children' in node ? faultOf(node.children, depth + 1) : undefined)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Where it leads stands beside it, unless its own text says that and nothing else. */
function faultOfLink({ href, host, children }: Element & { readonly is: 'link' }): string | undefined {
  const url = new URL(href)
  if (!['http:', 'https:', 'mailto:'].includes(url.protocol)) return `it leads to ${href}`
  if (host !== undefined)
    return url.protocol === 'mailto:' || host === url.host ? undefined : `${href} is said to be ${host}`
  const said = textOf(children).trim().toLowerCase()
  const target = url.protocol === 'mailto:' ? url.pathname : url.host
  return said.replace(/^(?:https?:\/\/|mailto:)/u, '').startsWith(decodeURI(target).toLowerCase())
    ? undefined
    : `${href} is hidden behind ${said}`
}

export function textOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => (typeof node === 'string' ? node : 'children' in node ? textOf(node.children) : node.code))
    .join('')
}
