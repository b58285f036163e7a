/** The environment of whoever runs the tests, without what is theirs: settings of Parley and telemetry, keys and addresses of models. */
import { join } from 'node:path'

const THEIRS = /^PARLEY_|^OTEL_|_API_KEY$|_BASE_URL$|^OLLAMA_HOST$/u

/** No test may depend on a server of models that happens to run on this machine: none is looked for. */
export function cleanEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !THEIRS.test(entry[0]),
  )
  return { ...Object.fromEntries(inherited), PARLEY_DISCOVER_LOCAL_MODELS: 'false' }
}

/** Of a command: its state directory, and the agent that it is to use. */
export interface Surroundings {
  readonly home: string
  readonly agent?: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** As a shell without a terminal would have it. */
export function environmentOf({ home, agent, env = {} }: Surroundings): Record<string, string> {
  const inherited = Object.entries(cleanEnvironment()).filter(([name]) => !/^(?:NO_COLOR|FORCE_COLOR|CI$)/u.test(name))
  return {
    ...Object.fromEntries(inherited),
    XDG_CONFIG_HOME: join(home, 'config'),
    PARLEY_HOME: home,
    ...(agent === undefined ? {} : { PARLEY_AGENT: agent }),
    ...env,
  }
}
