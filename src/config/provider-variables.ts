/** Which variables of an environment reach providers of models, so that a command can lend them to a server that runs already. */
import { existsSync } from 'node:fs'
import { knownProviders } from './models/known-providers.ts'
import { userFile } from './places.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Those that are set, with their values: keys and addresses. */
export async function providerVariables(environment: Environment): Promise<Readonly<Record<string, string>>> {
  const known = knownProviders.flatMap(({ keyNames, urlNames }) => keyNames.concat(urlNames))
  const names = [...known, ...(await namesOfOwn(environment))]
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
}

/** An editor waits while its relay starts, and most people describe no provider: then no file is parsed for this. */
async function namesOfOwn(environment: Environment): Promise<readonly string[]> {
  if (!existsSync(userFile(environment))) return []
  const { variablesOfOwnProviders } = await import('./models/models.ts')
  return variablesOfOwnProviders(environment)
}
