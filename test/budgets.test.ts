/** The budgets of length and depth: they hold for every file, and each is shown to catch what passes it. */
import { describe, expect, test } from 'vitest'
import { deepNesting, longFiles, longFunctions } from './architecture/budgets.ts'
import { parse, readSources } from './architecture/source.ts'

const root = new URL('..', import.meta.url).pathname
const product = readSources(root, ['src']).map(parse)
const proof = readSources(root, ['test', 'bench', 'scripts']).map(parse)
const file = (text: string, path = 'src/session/domain/decide.ts') => parse({ path, text })
const lines = (count: number) => 'step()\n'.repeat(count)
const small = Array.from({ length: 20 }, (_, n) => file(`function f${n}() {\n  step()\n}\n`, `src/text/f${n}.ts`))

describe.each([
  ['the product', product],
  ['its proof', proof],
])('%s', (_name, files) => {
  test('has no file that is too long', () => expect(longFiles(files)).toEqual([]))
  test('has no function that is too long', () => expect(longFunctions(files)).toEqual([]))
  test('nests nowhere too deep', () => expect(files.flatMap(deepNesting)).toEqual([]))
})

describe('a budget catches', () => {
  test('a file past the hard limit', () => {
    expect(longFiles([...small, file(lines(500))])).toEqual([])
    expect(longFiles([...small, file(lines(501))])).toEqual([
      'src/session/domain/decide.ts:1 the file has 501 lines, but 500 is the limit',
    ])
  })

  test('long files once they are more than one in ten', () => {
    const long = [file(lines(301)), file(lines(302)), file(lines(300))]
    expect(longFiles([...small, ...long])).toEqual([])
    expect(longFiles([...small.slice(5), ...long])).toEqual([
      'src/session/domain/decide.ts:1 the file has 302 lines, but nine in ten must stay within 300',
      'src/session/domain/decide.ts:1 the file has 301 lines, but nine in ten must stay within 300',
    ])
  })

  test.each([
    ['a function', 'function long() {', '}'],
    ['an arrow', 'const long = () => {', '}'],
    ['a method', 'class A { long() {', '} }'],
    ['a method of an object', 'const a = { long() {', '} }'],
  ])('%s past the hard limit', (_kind, open, close) => {
    const of = (count: number) => [...small, file(`\n${open}\n${lines(count - 2)}${close}\n`)]
    expect(longFunctions(of(80))).toEqual([])
    expect(longFunctions(of(81))).toEqual(['src/session/domain/decide.ts:2 long has 81 lines, but 80 is the limit'])
    expect(longFunctions(of(81), ['src/session/domain/decide.ts#long'])).toEqual([])
  })

  test('long functions once they are more than one in ten', () => {
    const long = [file(`function long() {\n${lines(29)}}\n`)]
    expect(longFunctions([...small, ...long])).toEqual([])
    expect(longFunctions([...small.slice(12), ...long])).toEqual([
      'src/session/domain/decide.ts:1 long has 31 lines, but nine in ten must stay within 30',
    ])
  })

  test('a long test, though the suite around it may be as long as it likes', () => {
    const suite = (count: number) => [
      ...small,
      file(`describe('x', () => {\n${lines(90)}test('y', () => {\n${lines(count)}})\n})`),
    ]
    expect(longFunctions(suite(70))).toEqual([])
    expect(longFunctions(suite(90))).toEqual([
      'src/session/domain/decide.ts:92 a function has 92 lines, but 80 is the limit',
    ])
  })

  test.each([
    ['statements', 'if (a) { for (;;) { while (b) { try { c() } finally { d() } } } }'],
    ['callbacks', 'if (a) for (const b of c) b.map((d) => { switch (d) { case 1: do { e() } while (f) } })'],
  ])('%s that nest too deep', (_kind, text) => {
    expect(deepNesting(file(text))).toEqual(['src/session/domain/decide.ts:1 nests 4 deep, but 3 is the limit'])
  })

  test('nothing in a long else if', () => {
    expect(deepNesting(file('if (a) {} else if (b) {} else if (c) {} else if (d) {} else if (e) {}'))).toEqual([])
  })
})
