/** Every kind of input from outside, made to take long. */
import { zipSync } from 'fflate'
import type { StallBench } from './bench.ts'

export interface StallInput {
  readonly name: string
  /** Resolves when the server has answered. */
  readonly run: (bench: StallBench) => Promise<unknown>
}

const MB = 1024 * 1024
const ALMOST = `${'a'.repeat(60)}!`
const bytes = (text: string) => new TextEncoder().encode(text)

/** Writes a raw line on a connection of its own and waits for its answer or its end. */
async function line(bench: StallBench, raw: string, id: string | null): Promise<void> {
  const client = await bench.connect()
  client.socket.write(`${raw}\n`)
  await Promise.race([client.until((message) => message.id === id && message.method === undefined), client.closed])
  await client.leave()
}

const request = (method: string, params: string) => `{"jsonrpc":"2.0","id":"x","method":"${method}","params":${params}}`

const lines: readonly StallInput[] = [
  { name: 'a line of 15 MB that is no JSON', run: (bench) => line(bench, 'x'.repeat(15 * MB), null) },
  {
    name: 'a line of a million levels',
    run: (bench) => line(bench, request('session/list', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`), 'x'),
  },
  {
    name: 'a request of 10 MB of small values',
    run: (bench) => line(bench, request('session/list', `{"_meta":{"a":[${'1,'.repeat(5 * MB)}1]}}`), 'x'),
  },
  {
    name: '20,000 requests at once',
    async run(bench) {
      const client = await bench.connect()
      const ids = Array.from({ length: 20_000 }, () => client.ask('session/list', { cwd: '/nowhere' }))
      await client.answerTo(ids.at(-1))
      await client.leave()
    },
  },
]

const prompts: readonly StallInput[] = [
  { name: 'a prompt of 10 MB', run: async (bench) => bench.prompt(await bench.session(), 'word '.repeat(2 * MB)) },
  {
    name: 'a prompt of 50,000 parts',
    run: async (bench) => {
      const prompt = Array.from({ length: 50_000 }, () => ({ type: 'text', text: 'a' }))
      return bench.client.request('session/prompt', { sessionId: await bench.session(), prompt })
    },
  },
  {
    name: 'a prompt of 500,000 mentions',
    run: async (bench) => bench.prompt(await bench.session(), '@a:b '.repeat(500_000)),
  },
  {
    name: 'a question of 1 MB to the guide',
    run: async (bench) => bench.prompt(await bench.session({ 'a.md': 'text' }), '搜索 a- '.repeat(100_000)),
  },
  {
    name: 'a search over sessions for 100,000 words',
    run: (bench) => bench.client.request('_parley/search', { query: 'a "b* -'.repeat(100_000) }),
  },
]

const servers: readonly StallInput[] = [
  ['a pattern without end', { type: 'object', properties: { v: { type: 'string', pattern: '^(a|a)*$' } } }],
  ['references that double', doubled()],
  ['12,000 items that must differ', { type: 'object', properties: { v: { uniqueItems: true } } }],
].map(([name, schema]) => ({
  name: `a tool whose schema has ${name as string}`,
  async run(bench: StallBench) {
    const tools = [{ name: 'takes', inputSchema: schema }]
    const id = await bench.session({}, [bench.mcpServer('bad', { tools })])
    const v = name === '12,000 items that must differ' ? Array.from({ length: 12_000 }, (_, n) => ({ n })) : ALMOST
    return bench.call(id, 'bad__takes', { v })
  },
}))

function doubled(): object {
  const $defs = Object.fromEntries(
    Array.from({ length: 26 }, (_, n) => [
      `l${n}`,
      { allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
    ]),
  )
  return { type: 'object', properties: { v: { $ref: '#/$defs/l0' } }, $defs: { ...$defs, l26: { type: 'string' } } }
}

const results: readonly StallInput[] = [
  ['a text of 9 MB', { content: [{ type: 'text', text: 'a b\n'.repeat(2.2 * MB) }] }],
  ['structured content of 9 MB', { content: [], structuredContent: { v: Array.from({ length: MB }, (_, n) => n) } }],
  ['600,000 parts', { content: Array.from({ length: 600_000 }, () => ({ type: 'text', text: 'a' })) }],
  ['a text of 40 MB', { content: [{ type: 'text', text: 'a'.repeat(40 * MB) }] }],
].map(([name, result]) => ({
  name: `a tool result with ${name as string}`,
  async run(bench: StallBench) {
    const tools = [{ name: 'gives', inputSchema: { type: 'object' } }]
    const id = await bench.session({}, [bench.mcpServer('big', { tools, results: { gives: result } })])
    return bench.call(id, 'big__gives', {})
  },
}))

const manyTools: StallInput = {
  name: 'a server with 5,000 tools',
  async run(bench) {
    const properties = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, { type: 'string' }]))
    const tools = Array.from({ length: 5_000 }, (_, n) => ({
      name: `t${n}`,
      inputSchema: { type: 'object', properties },
    }))
    return bench.prompt(await bench.session({}, [bench.mcpServer('many', { tools })]), '/tools')
  },
}

const manyServers: StallInput = {
  name: '1,000 MCP servers in one session',
  async run(bench) {
    const mcpServers = Array.from({ length: 1_000 }, (_, n) => ({
      name: `s${n}`,
      command: '/bin/false',
      args: [],
      env: [],
    }))
    return bench.client.request('session/new', { cwd: bench.directory({}), mcpServers })
  },
}

function own(name: string, tool: string, given: () => Given): StallInput {
  return {
    name: `${tool}: ${name}`,
    async run(bench) {
      const { files = {}, args } = given()
      return bench.call(await bench.session(files), tool, args)
    },
  }
}

interface Given {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly args: unknown
}

const lineOf = (command: string) => () => ({ args: { command } })

const tools: readonly StallInput[] = [
  own('a pattern without end', 'search_text', () => ({
    files: { a: `${ALMOST}\n`.repeat(1_000) },
    args: { pattern: '(a|a)*$' },
  })),
  own('8 MB in one line', 'search_text', () => ({ files: { a: 'ab '.repeat(2.5 * MB) }, args: { pattern: 'b a' } })),
  own('8 MB in short lines, all matching', 'search_text', () => ({
    files: { a: 'ab\n'.repeat(2.5 * MB) },
    args: { pattern: 'a', limit: 1000 },
  })),
  own('a pattern of many choices', 'find_files', () => ({
    files: { [`${'a/'.repeat(100)}x`]: '' },
    args: { pattern: `${'**/a/'.repeat(60)}b` },
  })),
  own('.gitignore that goes back without end', 'find_files', () => ({
    files: { '.gitignore': `${'**/a/'.repeat(8)}b`, [`${'a/'.repeat(150)}x`]: '' },
    args: { pattern: '*' },
  })),
  own('.gitignore of 20,000 lines', 'find_files', () => ({
    files: { '.gitignore': Array.from({ length: 20_000 }, (_, n) => `*x${n}*y`).join('\n'), ...manyFiles(500) },
    args: { pattern: '*' },
  })),
  own('8 MB in one line', 'read_file', () => ({ files: { a: 'ab '.repeat(2.5 * MB) }, args: { path: 'a' } })),
  own('a text of 1 MB that is not there', 'edit_file', () => ({
    files: { a: 'ab cd\n'.repeat(MB / 6) },
    args: {
      path: 'a',
      edits: [{ old_text: `${'ab cd\n'.repeat(2_000)}x`, new_text: '' }],
      old_text: `${'ab cd\n'.repeat(2_000)}x`,
      new_text: 'y',
    },
  })),
  own('4 MB over 4 MB of other lines', 'write_file', () => ({
    files: { a: numbered(200_000, 'a') },
    args: { path: 'a', content: numbered(200_000, 'b') },
  })),
  own('a blank of Chinese', 'run_command', lineOf('echo\u3000a')),
  own('100,000 opening brackets', 'run_command', lineOf('$('.repeat(100_000))),
  own('100,000 quotes', 'run_command', lineOf(`echo ${'"\''.repeat(100_000)}`)),
  own('30 choices in braces', 'run_command', lineOf(`echo ${'{a,b}'.repeat(30)}`)),
  own('100,000 commands', 'run_command', lineOf('rm a;'.repeat(100_000))),
  own('50 MB of output', 'run_command', lineOf('yes 0123456789 | head -c 50000000')),
  own(
    '20 MB of escape sequences',
    'run_command',
    lineOf(String.raw`yes "$(printf '\033[31m\033]0;')" | head -c 20000000`),
  ),
]

function manyFiles(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`file${n}`, '']))
}

function numbered(count: number, letter: string): string {
  return Array.from({ length: count }, (_, n) => `${letter} line ${n}`).join('\n')
}

/** The guide looks into the documents of the directory. */
function documents(name: string, files: () => Readonly<Record<string, string | Uint8Array>>): StallInput {
  return {
    name: `documents: ${name}`,
    run: async (bench) => bench.prompt(await bench.session(files()), 'what is alpha?'),
  }
}

const docs: readonly StallInput[] = [
  documents('Markdown of 2 MB of one list', () => ({ 'a.md': '* '.repeat(MB) })),
  documents('Markdown of 100,000 headings', () => ({ 'a.md': '# alpha\n'.repeat(100_000) })),
  documents('HTML with 100,000 open tags', () => ({ 'a.html': '<div><script>'.repeat(100_000) })),
  documents('a docx that unpacks to 500 MB', () => ({
    'a.docx': zipSync({ 'word/document.xml': bytes('<w:p>'.padEnd(100 * MB, ' ')) }, { level: 9 }),
  })),
  documents('a pdf of nonsense', () => ({ 'a.pdf': bytes(`%PDF-1.7\n${'1 0 obj << /A '.repeat(200_000)}`) })),
]

const files: readonly StallInput[] = [
  {
    name: '.parley.toml of 200,000 brackets',
    run: async (bench) => bench.session({ '.parley.toml': '['.repeat(200_000) }),
  },
  {
    name: '.parley.toml of 5 MB',
    run: async (bench) => bench.session({ '.parley.toml': `agent = "guide"\n${'# a comment\n'.repeat(400_000)}` }),
  },
  {
    name: 'an import of 20 MB that is none',
    run: (bench) =>
      bench.client.request('_parley/import', {
        path: `${bench.directory({ a: '{"a":1}\n'.repeat(2.5 * MB) })}/a`,
        keepId: false,
      }),
  },
  {
    name: 'instructions of 5 MB',
    run: async (bench) => bench.prompt(await bench.session({ 'AGENTS.md': 'word '.repeat(MB) }), '/help'),
  },
]

export const inputs: readonly StallInput[] = [
  { name: 'nothing', run: () => new Promise((over) => setTimeout(over, 2_000)) },
  ...lines,
  ...prompts,
  ...servers,
  ...results,
  manyTools,
  manyServers,
  ...tools,
  ...docs,
  ...files,
]
