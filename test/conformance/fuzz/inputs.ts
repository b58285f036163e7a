/** What is thrown at the server: good messages of every kind, and what chance makes of them. */
import type { Fields } from '../../e2e/message.ts'
import type { Chance } from '../../series/chance.ts'

export interface World {
  readonly cwd: string
  /** Sessions that exist, or did. */
  readonly sessions: readonly string[]
  /** A new id for a request. */
  id(): string
}

export interface Input {
  readonly bytes: Buffer
  /** The id of a request that must be answered exactly once; absent where nobody can tell. */
  readonly asks?: string
}

/** Strings that have broken programs before. */
const ODD: readonly [string, ...string[]] = [
  '',
  '\0',
  '汉字🙂',
  '\u2028\u2029\u0085',
  '\ud800',
  'a'.repeat(5000),
  '../../etc/passwd',
  '/',
  '__proto__',
  'constructor',
  'null',
  '%s%n%x',
  '\u202e',
  '${jndi:x}',
  "'; DROP TABLE sessions; --",
  '-1',
]
const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  {},
  [[]],
  { __proto__: 1 },
  'text',
]

export function inputOf(chance: Chance, world: World): Input {
  if (chance.happens(1 / 20_000)) return { bytes: Buffer.alloc(34 * 1024 * 1024 + chance.between(0, 7999999), 0x61) }
  if (chance.happens(1 / 400)) return { bytes: deep(chance) }
  const id = world.id()
  const message = valid(chance, world, id)
  const line = Buffer.from(`${JSON.stringify(message)}\n`)
  if (chance.happens(1 / 4)) return 'id' in message ? { bytes: line, asks: id } : { bytes: line }
  return { bytes: chance.happens(1 / 2) ? Buffer.from(`${twisted(chance, message)}\n`) : garbled(chance, line) }
}

function deep(chance: Chance): Buffer {
  const depth = 100 + chance.between(0, 199999)
  const inside = chance.pick(['1', '"x"', ''])
  const [open, close] = chance.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ])
  const tower = `${open.repeat(depth)}${inside}${chance.happens(1 / 3) ? '' : close.repeat(depth)}`
  return Buffer.from(
    chance.happens(1 / 2) ? `${tower}\n` : `{"jsonrpc":"2.0","id":"d","method":"session/new","params":${tower}}\n`,
  )
}

type Maker = (chance: Chance, world: World) => Fields

const session = (chance: Chance, { sessions }: World): string =>
  sessions.length === 0 || chance.happens(1 / 8)
    ? 'no-such'
    : (sessions[chance.between(0, sessions.length - 1)] ?? 'no-such')
const opening: Maker = (chance, world) => ({
  sessionId: session(chance, world),
  cwd: chance.happens(1 / 10) ? '/no/such' : world.cwd,
  mcpServers: chance.happens(1 / 50) ? [{ name: 'x', command: '/bin/true', args: [], env: [] }] : [],
  ...(chance.happens(1 / 5) ? { _meta: { 'parley/after': chance.between(0, 49) } } : {}),
  ...(chance.happens(1 / 20) ? { additionalDirectories: ['/tmp'] } : {}),
})
const named: Maker = (chance, world) => ({ sessionId: session(chance, world) })

const MAKERS: readonly [readonly [string, Maker], ...(readonly [string, Maker])[]] = [
  [
    'initialize',
    (chance) => ({ protocolVersion: chance.between(0, 3), clientCapabilities: { terminal: chance.happens(1 / 2) } }),
  ],
  ['session/list', (chance, { cwd }) => (chance.happens(1 / 2) ? { cwd } : { cursor: chance.pick(ODD) })],
  ['session/load', opening],
  ['session/resume', opening],
  [
    'session/prompt',
    (chance, world) => ({ sessionId: session(chance, world), prompt: [{ type: 'text', text: chance.pick(ODD) }] }),
  ],
  [
    'session/prompt',
    (chance, world) => ({
      sessionId: session(chance, world),
      prompt: [{ type: 'resource_link', uri: 'file:///x', name: 'x' }],
    }),
  ],
  ['session/close', named],
  ['session/set_mode', (chance, world) => ({ sessionId: session(chance, world), modeId: chance.pick(ODD) })],
  [
    'session/set_config_option',
    (chance, world) => ({ sessionId: session(chance, world), configId: 'x', value: chance.pick(ODD) }),
  ],
  ['authenticate', () => ({ methodId: 'x' })],
  ['logout', () => ({})],
  ['_parley/rename', (chance, world) => ({ sessionId: session(chance, world), title: chance.pick(ODD) })],
  ['_parley/status', () => ({})],
  ['foo/bar', () => ({})],
]

/** What is dear comes seldom: it stays. */
const RARE: readonly [readonly [string, Maker], ...(readonly [string, Maker])[]] = [
  ['session/new', (_chance, { cwd }) => ({ cwd, mcpServers: [] })],
  ['session/delete', named],
  ['_parley/fork', named],
]

function valid(chance: Chance, world: World, id: string): Fields {
  if (chance.happens(1 / 12)) return { jsonrpc: '2.0', ...notification(chance, world) }
  if (chance.happens(1 / 30)) return { jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'x' } } }
  const [method, make] = chance.happens(1 / 40) ? chance.pick(RARE) : chance.pick(MAKERS)
  return { jsonrpc: '2.0', id, method, params: make(chance, world) }
}

function notification(chance: Chance, world: World): Fields {
  return chance.pick<Fields>([
    { method: 'session/cancel', params: named(chance, world) },
    { method: '$/cancel_request', params: { requestId: `r${chance.between(0, 999)}` } },
    { method: '_x/n', params: {} },
    { method: 'session/update', params: {} },
  ])
}

/** The message with a part of it made into something else. */
function twisted(chance: Chance, message: Fields): string {
  const copy = structuredClone(message) as Record<string, unknown>
  const places = placesIn(copy)
  for (let times = 1 + chance.between(0, 2); times > 0; times -= 1) {
    const [holder, key] = places[chance.between(0, places.length - 1)] ?? [copy, 'x']
    const what = chance.between(0, 5)
    if (what === 0) delete holder[key]
    else if (what === 1) holder[chance.pick(ODD)] = chance.pick(VALUES)
    else holder[key] = what < 4 ? chance.pick(VALUES) : chance.pick(ODD)
  }
  const text = JSON.stringify(copy)
  // A key that stands twice, or one that prototypes have.
  if (chance.happens(1 / 10))
    return text.replace('{', chance.pick(['{"id":1,', '{"__proto__":{"x":1},', '{"method":"foo",']))
  return text
}

function placesIn(holder: Record<string, unknown>): readonly (readonly [Record<string, unknown>, string])[] {
  const here = Object.keys(holder).map((key) => [holder, key] as const)
  const inner = Object.values(holder).filter((part) => typeof part === 'object' && part !== null)
  return here.concat(...inner.map((part) => placesIn(part as Record<string, unknown>)))
}

/** The line with its bytes disturbed. */
function garbled(chance: Chance, line: Buffer): Buffer {
  const at = chance.between(0, line.length - 1)
  const more = chance.pick([
    [0],
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0x0a],
    [0x0d, 0x0a],
    [0xef, 0xbb, 0xbf],
    [0x7b],
    [0x22],
  ])
  switch (chance.between(0, 4)) {
    case 0:
      return Buffer.concat([line.subarray(0, at), Buffer.from(more), line.subarray(at)])
    case 1:
      return Buffer.concat([line.subarray(0, at), Buffer.from('\n')])
    case 2:
      return Buffer.concat([line.subarray(at), line])
    case 3: {
      const copy = Buffer.from(line)
      copy[at] = chance.between(0, 255)
      return copy
    }
    default:
      return Buffer.concat([Buffer.from(' \t\r\n'.repeat(chance.between(0, 19))), line])
  }
}
