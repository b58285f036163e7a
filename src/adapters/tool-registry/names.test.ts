import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { registryName, registryPrefix, serverLabels } from './names.ts'

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[ab_ .-]{0,4}$/),
  fc.constantFrom('a', 'a_', '_a', 'a__b', 'b', 'b__c', 'ä', '工具', 'x'.repeat(200)),
)
const pairs = fc.uniqueArray(fc.tuple(name, name), {
  selector: (pair) => JSON.stringify(pair),
  minLength: 2,
  maxLength: 40,
})

describe('a registry name', () => {
  test('is valid, has at most 64 characters and is unique [T7]', () => {
    fc.assert(
      fc.property(pairs, (tools) => {
        const names = tools.map(([server, tool]) => registryName(server, tool))
        for (const one of names) expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(new Set(names).size).toBe(tools.length)
      }),
    )
  })

  test('begins with the prefix of its server', () => {
    fc.assert(fc.property(name, name, (server, tool) => registryName(server, tool).startsWith(registryPrefix(server))))
  })

  test('is unchanged if it is valid', () => {
    expect(registryName('docs', 'search_documents')).toBe('docs__search_documents')
    expect(registryName('my-docs_2', 'MinDocGlobalSearch')).toBe('my-docs_2__MinDocGlobalSearch')
  })

  test('in another script or shape keeps its valid characters and gets a unique suffix', () => {
    expect(registryName('docs', '搜索')).toMatch(/^docs__x_[0-9a-f]{12}$/)
    expect(registryName('Café', 'get/user')).toMatch(/^Cafe__get_user_[0-9a-f]{12}$/)
    expect(registryName('docs', 'get/user')).not.toBe(registryName('docs', 'get user'))
  })

  test('cannot collide with a name that looks like a generated one', () => {
    const made = registryName('s', 'get user')
    expect(registryName('s', made.slice('s__'.length))).not.toBe(made)
  })
})

test('servers of one name get different names, and the first keeps it', () => {
  expect(serverLabels(['docs', 'web', 'docs', 'docs 2', 'docs'])).toEqual(['docs', 'web', 'docs 3', 'docs 2', 'docs 4'])
})
