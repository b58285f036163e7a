import { describe, expect, test } from 'vitest'
import { characterBoundary, formatCount, shortenMiddle } from './shorten.ts'

describe('a shortened text', () => {
  test('keeps its beginning and its last line, and says how much is left out', () => {
    const text = `${'x'.repeat(200)}\n`.repeat(100) + '[Exit code 1.]'
    const noted: [number, number][] = []
    const short = shortenMiddle(text, 3_000, (left, from) => {
      noted.push([left, from])
      return '…'
    })
    const [[left, from] = [0, 0]] = noted
    expect(short).toBe(`${text.slice(0, from)}\n…\n${text.slice(from + left)}`)
    expect(short.endsWith('\n[Exit code 1.]')).toBe(true)
    expect(short.length).toBeLessThanOrEqual(3_000)
  })

  test('is not cut inside a character', () => {
    const text = '😀'.repeat(3_000)
    const [before, after] = shortenMiddle(text, 1_000, () => '…').split('…')
    expect([before, after].join('')).not.toMatch(/\p{Surrogate}/u)
    expect(characterBoundary('a😀', 2)).toBe(1)
    expect(characterBoundary('a😀', 3)).toBe(3)
  })
})

test('a count has a comma between thousands', () => {
  expect(formatCount(1_234_567)).toBe('1,234,567')
})
