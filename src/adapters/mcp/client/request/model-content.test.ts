import { array, assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Content } from '../../../../ports/values/content.ts'
import { MAX_MODEL_CHARS, withModelContent } from './model-content.ts'

const text = (words: string): Content => ({ type: 'text', text: words })
const picture: Content = { type: 'image', data: 'AAAA', mimeType: 'image/png' }

const readOn = (shown: string, offset: number) => {
  const how = `Read on with read_result: toolCallId "call-7", offset ${offset}.`
  return text(`[These are the first ${shown} characters. ${how}]`)
}

function modelContentOf(content: readonly Content[], toolCallId: string | undefined = 'call-7') {
  return withModelContent({ content, isError: false }, toolCallId).modelContent
}

function joined(content: readonly Content[] = []): string {
  return content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n')
}

describe('the content of a result for the model', () => {
  test('is the result itself if that is short', () => {
    expect(modelContentOf([text('x'.repeat(MAX_MODEL_CHARS)), picture])).toBeUndefined()
  })

  test('is its beginning, and a last sentence with the length and the call that reads on', () => {
    const brief = modelContentOf([text('a'.repeat(100_000)), picture, text('b')])
    expect(brief).toEqual([text('a'.repeat(29_000)), picture, readOn('29,000 of 100,002', 29_000)])
  })

  test('says that it is shortened also to a caller without an id', () => {
    const brief = withModelContent({ content: [text('a'.repeat(50_000))], isError: true }, undefined)
    expect(brief).toMatchObject({ isError: true, content: [{ text: 'a'.repeat(50_000) }] })
    expect(joined(brief.modelContent)).toMatch(/Ask the tool for less\.\]$/u)
  })

  test('ends at the end of a line where one is near', () => {
    const line = `${'x'.repeat(99)}\n`
    const brief = modelContentOf([text(line.repeat(1000))])
    expect(joined(brief?.slice(0, 1))).toBe(line.repeat(290))
  })

  test('cuts the text of a resource like any other, and counts it', () => {
    const resource = (words: string): Content => ({ type: 'resource', resource: { uri: 'file:///long', text: words } })
    const brief = modelContentOf([text('short'), resource('r'.repeat(60_000)), text('after')])
    expect(brief).toEqual([text('short'), resource('r'.repeat(28_995)), readOn('29,001 of 60,012', 29_001)])
  })

  test('is never too long, and the next part begins exactly where it ends', () => {
    const long = string({ unit: 'grapheme', minLength: 1, maxLength: 400 }).map((one) => one.repeat(200))
    const texts = array(long, { maxLength: 8 })
    assert(
      property(texts, (all) => {
        const content = all.map(text)
        const brief = modelContentOf(content)
        if (brief === undefined) return
        expect(joined(brief).length).toBeLessThanOrEqual(MAX_MODEL_CHARS + brief.length)
        const offset = Number(/offset (\d+)\.\]$/u.exec(joined(brief))?.[1])
        const whole = joined(content)
        // Where one text ends with the room, the break before the next is the first that is left.
        const shown = joined(brief.slice(0, -1))
        const isBroken = whole.charAt(offset - 1) === '\n' && !shown.endsWith('\n')
        expect(whole.slice(0, offset)).toBe(shown + (isBroken ? '\n' : ''))
      }),
      { numRuns: 100 },
    )
  })
})
