/** The requirements on an MCP host and the tests that carry them as tags say the same of each other. */
import { expect, test } from 'vitest'
import { isTest, readSources } from '../architecture/source.ts'
import { excused, official, requirements } from './requirements.ts'

const root = new URL('../..', import.meta.url).pathname
const tests = readSources(root, ['src', 'test']).filter(({ path }) => isTest(path))

/** Tags at the end of a name, and the rows of cases, whose tests are named after both. */
function tagsIn(text: string): readonly string[] {
  const titles = [...text.matchAll(/ \[((?:[A-Z]\d+ ?)+)\]['`"]/gu), ...text.matchAll(/\brow: '([^']+)'/gu)]
  return titles.flatMap(([, tags = '']) => tags.match(/\b[A-Z]\d+\b/gu) ?? [])
}

const tagged = new Set(tests.flatMap(({ text }) => tagsIn(text)))

test('MCP host: every requirement has a test with its tag or a scenario of the official suite, or says why it has none', () => {
  const held = (id: string) => tagged.has(id) || official[id] !== undefined || excused[id] !== undefined
  expect(Object.keys(requirements).filter((id) => !held(id))).toEqual([])
})

test('MCP host: no tag and no exception is of a requirement that there is not', () => {
  const named = [...tagged, ...Object.keys(official), ...Object.keys(excused)]
  expect(named.filter((id) => requirements[id] === undefined)).toEqual([])
})
