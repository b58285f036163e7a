/** The variables with keys and addresses of model providers, which a command sends to a server that runs already. */
import { knownProviders } from './known-providers.ts'
import { readText } from '../../state-files/bounded-read.ts'
import { userFile } from '../places.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Those that are set, with their values. */
export async function providerVariables(environment: Environment): Promise<Readonly<Record<string, string>>> {
  const known = knownProviders.flatMap(({ keyNames, urlNames }) => keyNames.concat(urlNames))
  const names = [...known, ...(await namesOfOwn(environment))]
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
}

/** An editor waits for its relay to start, so the schema is loaded only where the file mentions providers at all. */
async function namesOfOwn(environment: Environment): Promise<readonly string[]> {
  if (!(await mentionsProviders(userFile(environment)))) return []
  const { variablesOfOwnProviders } = await import('./configured-providers.ts')
  return variablesOfOwnProviders(environment)
}

async function mentionsProviders(path: string): Promise<boolean> {
  try {
    return (await readText(path))?.includes('providers') === true
  } catch {
    // Reported when the settings of the file are read.
    return false
  }
}
