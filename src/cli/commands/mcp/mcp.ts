/** `parley mcp`: the MCP servers of the configuration, and a look at any server as a session would see it. */
import type { CommandInput } from '../../runtime/command.ts'
import { USAGE } from '../../runtime/exit-codes.ts'
import { complain } from '../../say.ts'

type Verb = (words: readonly string[], options: CommandInput['options'], hasDashes: boolean) => Promise<number>

interface Row {
  readonly usage: string
  /** How many words it takes at least and at most. */
  readonly takes: readonly [number, number]
  readonly load: () => Promise<Verb>
}

const verbs: Readonly<Record<string, Row>> = {
  ls: { usage: 'ls', takes: [0, 0], load: async () => (await import('./ls.ts')).listServers },
  test: {
    usage: 'test NAME, test URL, or test -- COMMAND ARGS',
    takes: [1, Infinity],
    load: async () => (await import('./test.ts')).testServer,
  },
  add: {
    usage: 'add NAME -- COMMAND ARGS, or add NAME --url URL',
    takes: [1, Infinity],
    load: async () => (await import('./add.ts')).addServer,
  },
  allow: { usage: 'allow NAME', takes: [1, 1], load: async () => (await import('./trust.ts')).allowServer },
  login: { usage: 'login NAME, or login URL', takes: [1, 1], load: async () => (await import('./login.ts')).login },
  logout: {
    usage: 'logout NAME, or logout URL',
    takes: [1, 1],
    load: async () => (await import('./login.ts')).logout,
  },
  rm: { usage: 'rm NAME', takes: [1, 1], load: async () => (await import('./add.ts')).removeServer },
  import: { usage: 'import FILE', takes: [1, 1], load: async () => (await import('./import.ts')).importServers },
}

export async function run({ args, options, hasDashes = false }: CommandInput): Promise<number> {
  const [verb = 'ls', ...words] = args
  const row = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (row === undefined) return refuse(`say what to do: ${Object.keys(verbs).join(', ')}`)
  const [least, most] = row.takes
  if (words.length < least || words.length > most) return refuse(`usage: parley mcp ${row.usage}`)
  return (await row.load())(words, options, hasDashes)
}

function refuse(reason: string): number {
  complain(reason)
  return USAGE
}
