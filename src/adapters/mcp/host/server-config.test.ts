import { expect, test } from 'vitest'
import { EMPTY_SERVER_OFFER, type ServerTool } from './mcp-types.ts'
import { permitted } from './server-config.ts'

const tool = (name: string): ServerTool => {
  return { serverToolName: name, title: name, description: '', inputSchema: {}, readOnly: false, definitionHash: '' }
}

test.each([
  ['read', 'read', true],
  ['read', 'reads', false],
  ['read*', 'read_file', true],
  ['*file', 'read_file', true],
  ['r*_*e', 'read_file', true],
  ['read*read', 'read', false],
  ['*', '', true],
  ['**', 'any\nthing', true],
  ['a.b', 'aXb', false],
  ['*a'.repeat(200), `${'a'.repeat(5_000)}b`, false],
])('the pattern %s and the tool %s', (pattern, name, isUsed) => {
  const { tools } = permitted({ ...EMPTY_SERVER_OFFER, tools: [tool(name)] }, { include: [pattern] })
  expect(tools).toHaveLength(isUsed ? 1 : 0)
})
