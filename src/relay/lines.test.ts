import { describe, expect, test } from 'vitest'
import { LineCutter, linesOf } from './lines.ts'

const text = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString()

describe('half a line', () => {
  const whole = Buffer.from('one\ntwo ü\n\nthree\n')

  test('is held back however the bytes arrive, and nothing is lost', () => {
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const cutter = new LineCutter()
      const pieces = [cutter.push(whole.subarray(0, cut)), cutter.push(whole.subarray(cut))]
      expect(pieces.every((piece) => piece.length === 0 || piece.at(-1) === 0x0a)).toBe(true)
      expect(text(pieces)).toBe(whole.toString())
      expect(cutter.rest()).toHaveLength(0)
    }
  })

  test('is there to be asked for when no more comes', () => {
    const cutter = new LineCutter()
    cutter.push(Buffer.from('one\ntw'))
    cutter.push(Buffer.from('o'))
    expect(cutter.rest().toString()).toBe('two')
  })
})

test('lines are told apart, each with its newline', () => {
  expect([...linesOf(Buffer.from('a\n\nb\n'))].map(String)).toEqual(['a\n', '\n', 'b\n'])
})

test('a line past the limit is refused once, costs no memory, and ends where it ends', () => {
  const cutter = new LineCutter(8)
  expect(cutter.push(Buffer.from('short\n0123456')).toString()).toBe('short\n')
  expect(cutter.refuse()).toBe(false)
  cutter.push(Buffer.from('789'))
  expect(cutter.refuse()).toBe(true)
  cutter.push(Buffer.from('still the same line'))
  expect(cutter.refuse()).toBe(false)
  expect(cutter.push(Buffer.from('its end\nnext\n')).toString()).toBe('next\n')
})
