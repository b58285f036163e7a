/** `parley rules`: what is allowed, asked about or denied without anybody being asked anew, and how to change it. */
import type { CommandInput } from '../../runtime/command.ts'
import { USAGE } from '../../runtime/exit-codes.ts'
import { complain } from '../../say.ts'

type Verb = (words: readonly string[], options: CommandInput['options']) => Promise<number>

const verbs: Readonly<
  Record<string, { readonly words: number; readonly usage: string; readonly load: () => Promise<Verb> }>
> = {
  ls: { words: 0, usage: 'ls', load: async () => (await import('./ls.ts')).listRules },
  add: {
    words: 1,
    usage: 'add allow|ask|deny with --tool, --server, --path, --command or --host',
    load: async () => (await import('./edit.ts')).addRule,
  },
  rm: { words: 1, usage: 'rm ID', load: async () => (await import('./edit.ts')).removeRule },
  consent: { words: 0, usage: 'consent', load: async () => (await import('./trust.ts')).consentToRules },
}

export async function run({ args, options }: CommandInput): Promise<number> {
  const [verb = 'ls', ...words] = args
  const row = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (row === undefined) return refuse(`say what to do: ${Object.keys(verbs).join(', ')}`)
  if (words.length !== row.words) return refuse(`usage: parley rules ${row.usage}`)
  return (await row.load())(words, options)
}

function refuse(reason: string): number {
  complain(reason)
  return USAGE
}
