import { expect, test } from 'vitest'
import { documentFormatOf } from './formats.ts'
import type { Outline } from '../document/outline.ts'
import { passagesOf } from '../document/split-into-passages.ts'

function read(fileName: string, source: string): Outline | undefined {
  const format = documentFormatOf(fileName)
  return format !== undefined && 'read' in format ? format.read(source) : undefined
}

/** Headings as `level title`, and the title that is not one of them. */
function outlined(fileName: string, source: string): readonly string[] {
  const outline = read(fileName, source)
  const headings = outline?.headings.map(({ level, title, start, end }) => {
    expect(outline.text.slice(start, end)).toContain(title.split(' ')[0])
    return `${level} ${title}`
  })
  return [...(outline?.title === undefined ? [] : [outline.title]), ...(headings ?? [])]
}

test('files that are no documents have no format', () => {
  for (const name of ['a.ts', 'image.png', '.md', 'Makefile', 'x.md.bak'])
    expect(documentFormatOf(name)).toBeUndefined()
  for (const name of ['a.md', 'A.MARKDOWN', 'a.b.rst', 'x.adoc', 'x.htm', 'x.txt', 'README', 'LICENSE']) {
    expect(documentFormatOf(name)).toBeDefined()
  }
})

test('Markdown: headings with # and underlines, not inside fences, and the front matter', () => {
  const source = `---
title: "The title"
# not a heading
---
# One #
Two
===
Some text
that goes on
---
\`\`\`sh
# a comment
~~~
\`\`\`
### [Three](x.md) \`code\` **bold**
#no heading
- list
---
| a |
---
    # code
####### seven
`
  expect(outlined('a.md', source)).toEqual(['The title', '1 One', '1 Two', '2 that goes on', '3 Three code bold'])
})

test('reStructuredText: heading levels follow the order of their first use', () => {
  const source = `=====
Title
=====

Part
----

Chapter
~~~~~~~

.. code::

Next
----

a  b
== ==
中文标题
========
`
  expect(outlined('a.rst', source)).toEqual(['1 Title', '2 Part', '3 Chapter', '2 Next', '4 中文标题'])
})

test('AsciiDoc: lines of =, not inside blocks', () => {
  const source = '= Title\n\n== One\n\n----\n== not\n----\n\n=== Two `x`\n\n=not\n====\n'
  expect(outlined('a.adoc', source)).toEqual(['1 Title', '2 One', '3 Two x'])
})

test('HTML: text without markup, every line keeps its number', () => {
  const source = `<!doctype html>
<html><head><title>The
page</title><style>
p { color: red }
</style><script>if (a < b) document.write("<h1>no</h1>")</script></head>
<body>
<!-- <h1>not
this</h1> -->
<h1 class="x">One &amp; only</h1><p>软<b>RAID</b> &#38; 阵&#x5217;<br>next</p>
<h2>Two</h2>a < b &unknown; <p
>last`
  expect(outlined('a.html', source)).toEqual(['The page', '1 One & only', '2 Two'])
  const { text } = read('a.html', source) ?? { text: '' }
  expect(text.split('\n')).toHaveLength(source.split('\n').length)
  const lines = text.split('\n').map((line) => line.split('\u2029').filter((part) => part.trim() !== ''))
  expect(lines[8]).toEqual(['One & only', '软RAID & 阵列', 'next'])
  expect(lines[9]).toEqual(['Two', 'a < b &unknown; '])
  expect(lines[10]).toEqual(['last'])
})

// What took the square of its length would never end within the test's time.
test('hostile files are parsed in bounded time', () => {
  const pieces = ['<', '<!--', '<a ', '<h1>', '&#', '<script>', '<a "', '[', '# ', '#', '`', '*']
  pieces.push('= ', '=\n', ' \n', '---\na\n')
  for (const piece of pieces) {
    const source = piece.repeat(400_000 / piece.length)
    for (const name of ['a.html', 'a.md', 'a.rst', 'a.adoc']) {
      const outline = read(name, source)
      if (outline !== undefined) expect(passagesOf(outline).length).toBeLessThan(source.length)
    }
  }
})
