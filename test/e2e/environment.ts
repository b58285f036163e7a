/** The environment of whoever runs the tests, without what is theirs: settings of Parley and telemetry, keys and addresses of models. */

const THEIRS = /^PARLEY_|^OTEL_|_API_KEY$|_BASE_URL$|^OLLAMA_HOST$/u

/** No test may depend on a server of models that happens to run on this machine: none is looked for. */
export function cleanEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !THEIRS.test(entry[0]),
  )
  return { ...Object.fromEntries(inherited), PARLEY_DISCOVER_LOCAL_MODELS: 'false' }
}
