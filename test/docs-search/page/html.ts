/** Reads a page as strictly as it is written: every `<` begins a tag that we know, and every tag that opens closes. */

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface ReadPage {
  readonly elements: readonly Element[]
  /** Without the tags, and with what was escaped as it was. */
  readonly text: string
}

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>|<!doctype html>/y
const VOID = new Set(['meta', 'link', 'input', 'br', 'img'])
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Throws on the first thing that is not as we write it. */
export function readPage(html: string): ReadPage {
  const elements: Element[] = []
  const open: string[] = []
  let text = ''
  for (let at = 0; at < html.length;) {
    const next = html.indexOf('<', at)
    text += unescaped(html.slice(at, next < 0 ? html.length : next))
    if (next < 0) break
    TAG.lastIndex = next
    const tag = TAG.exec(html)
    if (tag === null) throw new Error(`no tag of ours: ${html.slice(next, next + 80)}`)
    at = TAG.lastIndex
    const [, end = '', name = '', attributes = ''] = tag
    if (name === '') continue
    if (end !== '') {
      const opened = open.pop()
      if (opened !== name) throw new Error(`</${name}> closes <${opened ?? ''}>`)
      continue
    }
    elements.push({ name, attributes: attributesIn(attributes) })
    if (!VOID.has(name)) open.push(name)
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(' ')}`)
  return { elements, text }
}

function attributesIn(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  if (/[>]/.test(text)) throw new Error(`a bare > in ${text.slice(0, 80)}`)
  return text.replace(/&([^;&]*);?/g, (entity, name: string) => {
    const character = ENTITIES[name]
    if (character === undefined) throw new Error(`no entity of ours: ${entity}`)
    return character
  })
}
