import { describe, expect, test } from 'vitest'
import { type Frame, LineFraming, TooLong, decodeUtf8 } from './framing.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (frame: Frame): string =>
  frame instanceof TooLong ? `too long: ${decodeUtf8(frame.beginning)}` : (decodeUtf8(frame) ?? 'not UTF-8')

describe('a line that has not ended', () => {
  const whole = bytes('one\ntwo ü\n\nthree\n')

  test('is buffered however the bytes arrive, and nothing is lost', () => {
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const framing = new LineFraming(100)
      const frames = [...framing.push(whole.subarray(0, cut)), ...framing.push(whole.subarray(cut))]
      expect(frames.map(textOf)).toEqual(['one\n', 'two ü\n', '\n', 'three\n'])
      expect(framing.heldBytes).toBe(0)
      expect(framing.end()).toEqual([])
    }
  })

  test('is the last frame when the sender closes', () => {
    const framing = new LineFraming(100)
    framing.push(bytes('one\ntw'))
    framing.push(bytes('o'))
    expect(framing.heldBytes).toBe(3)
    expect(framing.end().map(textOf)).toEqual(['two'])
  })

  test('is freed when it is dropped, and skipped up to its newline', () => {
    const framing = new LineFraming(100)
    framing.push(bytes('one'))
    framing.drop()
    expect(framing.heldBytes).toBe(0)
    expect(framing.push(bytes(' and more\ntwo\n')).map(textOf)).toEqual(['two\n'])
  })
})

test('a line beyond the limit is reported once with its beginning, is not buffered, and ends at its newline', () => {
  const framing = new LineFraming(8)
  expect(framing.push(bytes('12345678\n1234567')).map(textOf)).toEqual(['12345678\n'])
  expect(framing.push(bytes('8')).map(textOf)).toEqual([])
  expect(framing.push(bytes('9')).map(textOf)).toEqual(['too long: 123456789'])
  expect(framing.heldBytes).toBe(0)
  expect(framing.push(bytes('still the same line')).map(textOf)).toEqual([])
  expect(framing.push(bytes('its end\nnext\n')).map(textOf)).toEqual(['next\n'])
})

test('a line that arrives in one piece is not copied', () => {
  const chunk = bytes('one\ntwo\n')
  const frames = new LineFraming(100).push(chunk)
  expect(frames.every((frame) => !(frame instanceof TooLong) && frame.buffer === chunk.buffer)).toBe(true)
})

test('bytes that are not UTF-8 have no text', () => {
  expect(decodeUtf8(Uint8Array.of(0xff))).toBeUndefined()
})
