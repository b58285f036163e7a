import { expect, test } from 'vitest'
import { unescaped } from './html-entities.ts'

test('names and numbers of either kind are the characters that they mean', () => {
  expect(unescaped('A &amp; B &#8212; &#x9635;&#X5217; &Uuml;&uuml;')).toBe('A & B — 阵列 Üü')
})

test('what is known to nobody stays as it is written', () => {
  const text = 'a & b &; &nope; &constructor; &#0; &#x110000; &amp'
  expect(unescaped(text)).toBe(text)
})
