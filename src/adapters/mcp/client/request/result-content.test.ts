import { describe, expect, test } from 'vitest'
import { parseToolResult } from './result-content.ts'

const text = (value: string) => ({ type: 'text', text: value })
const link = { type: 'resource_link', uri: 'file:///a', name: 'a' }
const picture = { type: 'image', data: 'aGk=', mimeType: 'image/png' }

describe('the content of a tool result', () => {
  test('keeps every type of content, with its annotations [C1]', () => {
    const words = { ...text('words'), annotations: { audience: ['user'] } }
    const content = [
      picture,
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { ...link, title: 'A', description: 'd', mimeType: 'text/plain', size: 3 },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'aGk=' } },
    ]
    const sent = [{ ...words, _meta: { k: 1 } }, ...content]
    expect(parseToolResult({ content: sent, isError: false })).toEqual({
      content: [{ ...words, meta: { k: 1 } }, ...content],
      isError: false,
    })
  })

  test('leaves out invalid fields, so that no client refuses the rest', () => {
    const annotations = { audience: ['user', 'everyone'], priority: 'high', lastModified: 5, mood: 'fine' }
    const content = [
      { ...text('words'), annotations },
      { ...link, size: -1.5, annotations: 'none' },
    ]
    expect(parseToolResult({ content }).content).toEqual([
      { ...text('words'), annotations: { audience: ['user'] } },
      link,
    ])
  })

  test('replaces unknown and malformed parts by notes', () => {
    const content = [
      text('before'),
      { type: 'hologram', beam: 1 },
      { type: 'text' },
      { type: 'image', data: 'not base64!', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a' } },
      null,
      text('after'),
    ]
    const shown = parseToolResult({ content }).content.map((item) => (item.type === 'text' ? item.text : item.type))
    expect([shown[0], shown[6]]).toEqual(['before', 'after'])
    const note = expect.stringMatching(/^\[The tool answered with content that Parley cannot show/u) as string
    expect(shown.slice(1, 6)).toEqual([note, note, note, note, note])
    expect(shown[1]).toContain('hologram')
  })

  test('is cut where it grows too long, and says so', () => {
    const { content } = parseToolResult({ content: [text('12345'), text('67890abc'), picture] }, 10)
    expect(content.slice(0, 2)).toEqual([text('12345'), text('67890')])
    expect(content.slice(2)).toEqual([
      text('[Left out: the rest of a text of 8 characters. One result may hold 10 characters; ask the tool for less.]'),
      text('[Left out: image of 4 characters. One result may hold 10 characters; ask the tool for less.]'),
    ])
  })

  test('leaves out structured content that is too long', () => {
    const result = parseToolResult({ content: [], structuredContent: { a: 'x'.repeat(20) } }, 10)
    const note = text(expect.stringContaining('structured content of 28') as string)
    expect(result).toEqual({ content: [note], isError: false })
  })

  test('is shown as text where there is only structured content', () => {
    const shown = { content: [text('[1,2]')], structured: [1, 2], isError: false }
    expect(parseToolResult({ structuredContent: [1, 2] })).toEqual(shown)
  })

  test('may be empty, and may be an error', () => {
    expect(parseToolResult({ isError: true, content: 'no list' })).toEqual({ content: [], isError: true })
  })
})

test('parts beyond the limit are left out, and so are links that are too long', () => {
  const parts = Array.from({ length: 600_000 }, () => ({ type: 'text', text: 'y' }))
  const { content } = parseToolResult({ content: parts })
  expect(content).toHaveLength(10_001)
  expect(content[0]).toMatchObject({ text: expect.stringContaining('590000 more parts') as string })
  const links = ['a:0', 'a:1', 'a:2'].map((uri) => ({ type: 'resource_link', name: 'n', uri: uri.padEnd(60, 'x') }))
  const kept = parseToolResult({ content: links }, 100).content.map(({ type }) => type)
  expect(kept).toEqual(['resource_link', 'text', 'text'])
})
