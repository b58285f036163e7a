/** `parley docs`: serves directories of documents to any MCP client, and says which and to whom. */
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { serve } from './serve.ts'

/** Words that are not a directory; one that is called so is named `./add`. */
const VERBS: Readonly<Record<string, () => Promise<{ run: typeof serve }>>> = {
  add: async () => ({ run: (await import('./collections.ts')).add }),
  rm: async () => ({ run: (await import('./collections.ts')).remove }),
  ls: async () => ({ run: (await import('./collections.ts')).list }),
  key: async () => ({ run: (await import('./keys.ts')).key }),
}

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await configFor()
  const [verb = '', ...rest] = args
  const known = VERBS[verb]
  if (known === undefined) return serve(config, { args, options })
  const { run: runVerb } = await known()
  return runVerb(config, { args: rest, options })
}
