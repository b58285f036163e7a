/** Archives of bzip2 are unpacked unchanged, and damaged ones are refused. */
import { expect, test } from 'vitest'
import { unbzip2 } from './bzip2.ts'

const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

/** Made by bzip2 1.0.8. */
const packed = {
  nothing: { content: Buffer.alloc(0), base64: 'QlpoORdyRThQkAAAAAA=' },
  'text, long runs and every byte': {
    content: Buffer.concat([Buffer.from('all work and no play '.repeat(300) + 'a'.repeat(1000)), ALL_BYTES]),
    base64:
      'QlpoOTFBWSZTWfUzkvkAA7r/////////////////////////////////////////////sAFZQ2HIAmAmTAAAJgmAAGgAJgRgBMBoAAAAAAAATACYEwEwAABGATAAA0AADQEmAAmAAJgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJKoSMTaT1DQBoAYgDQAZAADJoNAAYQZNMTTTRkAAAAAGgZAAAyNANGgAZGgAGgGmgGmgD1MGLJqm03a2xtnDczb5y0nU7njhPZ9P6BQaFQ6I40WjUekRIJCCCBIQYEEhBCgkIIMEhA5ObpTqfUKjUqnVKq61ar1is1qt1yu16voSGiIoJGR0hJSktMTU5PUFH6qSmqKqsr/b7rCytLa4ury+wMP4YmNkZWYKBBAwAAADYpCEH+YAkILMCQgakQEMCQgwlrgsLBwkLiASEEMzBIQQ4JCBvBIQXFkxBIQNASEEO0QkIIoEhAyBIQXNsYAkIIhuxOKiWsEhBFNrMEhBi7zjMbjsfkMjksnlMrlsvmMzms3nM7ns/oNDotHpNLptPqJeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfI/v+yMnKy8zNzs//6Gjpaepq62vsbO1t7m7vb/BwtwQJxcfJy83P0dPV19nb3d/h4+QX5AfOc9PX29xdyRThQkPUzkvk',
  },
  'several blocks': {
    content: Buffer.from('0123456789'.repeat(25_000)),
    base64:
      'QlpoMTFBWSZTWUqP/6UAE4cIAH/gIABwQAwClUMJnFQVHlUFR6qCo+VBUYVBUZVBUaVBUbVBUfqgqOKgqOmKCskymshsH97gAThwQAP/AQADggBgFKoYTOKgqPFQVHtUFR8qCowqCoyqCo0qCo2qCo/VBUcVBUdMUFZJlNZfmT3JgATiwgAf+AgAGoKVCaGBSqGCblIVGKQqMZpCo0UKjBQqMlCo0UKjZQqPyhUcKFR0XckU4UJBPXP4LA==',
  },
}

const unpacked = (bytes: Uint8Array): Buffer => Buffer.concat([...unbzip2(bytes)])

test.each(Object.entries(packed))('%s is unpacked unchanged', (_what, { content, base64 }) => {
  expect(unpacked(Buffer.from(base64, 'base64')).equals(content)).toBe(true)
})

test('several packed streams are one content', () => {
  const pieces = Object.values(packed).map(({ base64 }) => Buffer.from(base64, 'base64'))
  const contents = Object.values(packed).map(({ content }) => content)
  expect(unpacked(Buffer.concat(pieces)).equals(Buffer.concat(contents))).toBe(true)
})

test('truncated or damaged data is never unpacked to something else', () => {
  const { content, base64 } = packed['text, long runs and every byte']
  const whole = Buffer.from(base64, 'base64')
  const tried = (bytes: Uint8Array): string => {
    try {
      return unpacked(bytes).equals(content) ? 'the same' : 'another'
    } catch (error) {
      return error instanceof Error ? 'refused' : 'thrown'
    }
  }
  for (let at = 0; at < whole.length; at += 1) {
    expect(tried(whole.subarray(0, at))).toBe('refused')
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    // Some bits of the tables are of codes that nothing uses.
    expect(tried(damaged)).not.toBe('another')
  }
  expect(tried(Buffer.from('PK'))).toBe('refused')
})
