/** Every requirement of ACP v1 and every decision of ours has a case, and the pages that quote cases quote what there is. */
import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cases } from './cases/every-case.ts'
import { laws } from './laws.ts'
import { agentRows, clientRows } from './rows.ts'

/** Decisions that no case can wait for. */
const TAKES_A_MINUTE = ['An unused session']

describe('requirements of ACP', () => {
  test('each requirement on agents has a case', () => {
    const tried = new Set([...cases.map(({ row }) => row), ...laws.map(({ row }) => row)])
    expect(Object.keys(agentRows).filter((row) => !tried.has(row))).toEqual([])
    expect([...tried].filter((row) => agentRows[row] === undefined)).toEqual([])
  })

  test('each requirement on clients is named by a test', () => {
    const folder = new URL('../client/', import.meta.url)
    const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
    const words = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
    const isNamed = (row: string): boolean => new RegExp(`test(?:\\.concurrent)?\\(\n?.*\\b${row}\\b`, 'u').test(words)
    expect(Object.keys(clientRows).filter((row) => !isNamed(row))).toEqual([])
  })

  test('no two cases have the same name', () => {
    const names = cases.map(({ title }) => title)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('docs/internals/protocol.md', () => {
  const page = readFileSync(new URL('../../../docs/internals/protocol.md', import.meta.url), 'utf8')
  // A name may be wrapped over two lines of the page.
  const named = (text: string) => [...text.replaceAll(/\s+/gu, ' ').matchAll(/`(A-[A-Z]+-\d+)`: “([^”]+)”/gu)]
  const decisions = ['What an agent asks of a client', 'What the standard leaves open'].flatMap((heading) =>
    (page.split(`## ${heading}\n`)[1] ?? '')
      .split('\n## ', 1)
      .flatMap((section) => section.split(/^(?=\*\*)/mu).slice(1)),
  )

  test('names cases that exist', () => {
    const known = new Set(cases.map(({ row, name }) => `${row} ${name}`))
    const gone = named(page).filter(([, row, name]) => !known.has(`${row} ${name}`))
    expect(gone.map(([text]) => text)).toEqual([])
  })

  test('has a case for each decision', () => {
    const titles = decisions.filter((text) => named(text).length === 0).map((text) => text.split('**')[1])
    expect(decisions.length).toBeGreaterThan(30)
    expect(titles).toEqual(TAKES_A_MINUTE)
  })
})

test('docs/internals/conformance.md lists every case', () => {
  const lines = readFileSync(new URL('../../../docs/internals/conformance.md', import.meta.url), 'utf8').split('\n')
  const listed = new Set(lines.map((line) => line.split(' | ')).map(([row, , name]) => `${row?.slice(2)} ${name}`))
  expect(cases.map(({ row, name }) => `${row} ${name}`).filter((one) => !listed.has(one))).toEqual([])
})
