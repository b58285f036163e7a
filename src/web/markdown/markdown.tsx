/** A message in Markdown as elements of the page. The tree that it draws was made by a table; nothing here reads HTML. */
import { type ComponentChildren, type JSX, h } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { memo } from '../page/memo.ts'
import { count, words } from '../i18n/language.ts'
import { CodeBlock } from './code-block.tsx'
import type { Element, Node, Plain as PlainElement } from './elements.ts'
import { type Block, GrowingMarkdown, MAX_CHARS } from './growing-markdown.ts'
import { spelledOut } from './invisible.ts'

export function Markdown({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  const growing = useRef<GrowingMarkdown>(null)
  const [isAll, setAll] = useState(false)
  const shown = isAll || text.length <= MAX_CHARS ? text : text.slice(0, MAX_CHARS)
  growing.current ??= new GrowingMarkdown()
  const blocks = useMemo(() => {
    growing.current?.update(shown, isWhole)
    return growing.current?.blocks ?? []
  }, [shown, isWhole])
  return (
    <div class="markdown">
      {blocks.map(blockView)}
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          {words().cutLong(count(text.length))}
        </button>
      )}
    </div>
  )
}

/** Blocks that were read already. */
export function MarkdownBlocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return <div class="markdown">{blocks.map(blockView)}</div>
}

function blockView(block: Block) {
  return <BlockView key={block.at} block={block} />
}

const BlockView = memo(({ block }: { readonly block: Block }) => <>{block.nodes.map(nodeView)}</>)

const TAGS: Readonly<Record<PlainElement, keyof JSX.IntrinsicElements>> = {
  paragraph: 'p',
  quotation: 'blockquote',
  strong: 'strong',
  emphasis: 'em',
  deleted: 'del',
  break: 'br',
  rule: 'hr',
  table: 'table',
  row: 'tr',
  piece: 'div',
}

function nodeView(node: Node): ComponentChildren {
  return typeof node === 'string' ? node : elementView(node)
}

function elementView(element: Element): ComponentChildren {
  switch (element.is) {
    case 'code block':
      return <CodeBlock code={element.code} language={element.language} />
    case 'code':
      return <code>{spelledOut(element.code)}</code>
    case 'link':
      return <LinkView link={element} />
    case 'heading':
      // The page has the first two levels.
      return h(`h${Math.min(6, element.level + 2)}`, null, element.children.map(nodeView))
    case 'list':
      return h(
        element.start === undefined ? 'ul' : 'ol',
        element.start === undefined ? null : { start: element.start },
        element.children.map(nodeView),
      )
    case 'item':
      return (
        <li class={element.checked === undefined ? undefined : 'task'}>
          {element.checked !== undefined && <input type="checkbox" checked={element.checked} disabled />}
          {element.children.map(nodeView)}
        </li>
      )
    case 'cell':
      return h(element.isHead ? 'th' : 'td', { class: element.align ?? undefined }, element.children.map(nodeView))
    case 'table':
      return (
        <div class="table" tabIndex={0} role="group">
          <table>
            <tbody>{element.children.map(nodeView)}</tbody>
          </table>
        </div>
      )
    default:
      return h(
        TAGS[element.is],
        null,
        element.is === 'break' || element.is === 'rule' ? undefined : element.children.map(nodeView),
      )
  }
}

function LinkView({ link }: { readonly link: Element & { readonly is: 'link' } }) {
  return (
    <>
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
        {link.children.map(nodeView)}
      </a>
      {link.host !== undefined && <span class="host"> ({link.host})</span>}
    </>
  )
}
