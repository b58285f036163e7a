/** Colours code in a thread of its own. It answers with texts and the names of their colours, never with HTML. */
import { common, createLowlight } from 'lowlight'
import type { Coloured, HighlightJob } from './highlight.ts'

const lowlight = createLowlight(common)

/** What the style has colours for, by the classes of the grammars. */
const COLOURS: Readonly<Record<string, string>> = {
  'hljs-keyword': 'keyword',
  'hljs-built_in': 'keyword',
  'hljs-literal': 'number',
  'hljs-number': 'number',
  'hljs-string': 'string',
  'hljs-regexp': 'string',
  'hljs-addition': 'string',
  'hljs-comment': 'comment',
  'hljs-quote': 'comment',
  'hljs-deletion': 'number',
  'hljs-meta': 'comment',
  'hljs-title': 'name',
  'hljs-name': 'name',
  'hljs-attr': 'name',
  'hljs-attribute': 'name',
  'hljs-section': 'name',
  'hljs-selector-class': 'name',
  'hljs-selector-tag': 'keyword',
  'hljs-type': 'name',
  'hljs-variable': 'name',
}

interface TreeNode {
  readonly type: string
  readonly value?: string
  readonly properties?: { readonly className?: unknown }
  readonly children?: readonly TreeNode[]
}

addEventListener('message', ({ data }: MessageEvent<HighlightJob>) => {
  const { id, language, code } = data
  const isKnown = lowlight.registered(language)
  const pieces: Coloured[] = []
  if (isKnown) collect(lowlight.highlight(language, code), '', pieces)
  postMessage({ id, pieces: isKnown ? pieces : undefined })
})

function collect({ value, properties, children = [] }: TreeNode, around: string, into: Coloured[]): void {
  const names = Array.isArray(properties?.className) ? properties.className.map(String) : []
  const colour = names.map((name) => COLOURS[name]).find((one) => one !== undefined) ?? around
  if (value !== undefined) into.push([colour, value])
  for (const child of children) collect(child, colour, into)
}
