import { expect, test } from 'vitest'
import { codeIn } from './pairing.ts'

test.each([
  ['#pair=Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['#share=Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['#Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['Abc-_0123456789xyz', 'Abc-_0123456789xyz'],
  ['', ''],
  ['#main', ''],
  ['#pair=<b>0123456789012345</b>', ''],
])('the code in %j is %j', (hash, code) => expect(codeIn(hash)).toBe(code))
