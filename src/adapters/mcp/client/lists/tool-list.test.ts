import { expect, test } from 'vitest'
import { cleanTools, MAX_TOOLS } from './tool-list.ts'

test('tools beyond the thousandth are ignored, with one warning', () => {
  let read = 0
  const tools = Array.from({ length: MAX_TOOLS + 500 }, (_, at) => ({
    get name() {
      read = Math.max(read, at)
      return `t${at}`
    },
    inputSchema: { type: 'object' },
  }))
  const { tools: kept, wire, faults } = cleanTools(tools)
  expect([kept.length, wire.length, read]).toEqual([MAX_TOOLS, MAX_TOOLS, MAX_TOOLS - 1])
  expect(faults).toEqual(['it lists more than 1000 tools; the first 1000 are used'])
})

test('the protocol layer gets a schema only if an argument is sent as a header', () => {
  const plain = { type: 'object', properties: { a: { type: 'string' } } }
  const header = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }
  const { wire, tools } = cleanTools([
    { name: 'plain', inputSchema: plain },
    { name: 'header', inputSchema: header },
  ])
  expect(wire.map(({ inputSchema }) => inputSchema)).toEqual([{ type: 'object' }, header])
  expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([plain, header])
})
