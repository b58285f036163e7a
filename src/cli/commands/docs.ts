/** `parley docs DIR…`: serves directories of documents to any MCP client until it is told to stop. */
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { fail } from '../../errors/parley-error.ts'
import { docsKey, openDocs } from '../../server/docs.ts'
import type { CommandInput } from '../command.ts'
import { textOption } from '../options.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await loadConfig()
  const host = textOption(options, 'host') ?? '127.0.0.1'
  const key = await docsKey(config, { host, file: textOption(options, 'keyFile') })
  for (const warning of key.warnings) say(`Warning: ${warning}`)
  const server = await openDocs({
    directories: args.map(directoryOf),
    key: key.key,
    host,
    port: portOf(textOption(options, 'port')),
    log: say,
    ...(options['allowQueryKey'] === true ? { allowQueryKey: true } : {}),
    ...hostsOf(textOption(options, 'allowHost')),
  })
  process.stdout.write(`${server.url}\n`)
  say(`Serving ${args.join(', ')} over MCP (Streamable HTTP). Stop with Ctrl-C.`)
  say(
    key.path === undefined
      ? 'The key is that of PARLEY_DOCS_KEY.'
      : `The key is in ${key.path}. Send it as Authorization: Bearer, X-API-Key or ?api_key=.`,
  )
  await untilTold()
  await server.close()
  return 0
}

/** stdout has the address and nothing else, so that a script can read it. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** An empty text is a variable that was not set, and not this directory. */
function directoryOf(directory: string): string {
  if (directory !== '') return resolve(directory)
  return fail('CONFIG_INVALID', { key: 'DIR', value: '""', reason: 'name the directory to serve' })
}

function hostsOf(names: string | undefined): { readonly allowedHosts?: readonly string[] } {
  return names === undefined ? {} : { allowedHosts: names.split(',').map((name) => name.trim()) }
}

function portOf(text = '0'): number {
  const port = Number(text)
  if (/^\d+$/u.test(text) && port <= 65_535) return port
  return fail('CONFIG_INVALID', {
    key: '--port',
    value: JSON.stringify(text),
    reason: 'it is a whole number from 0 to 65535',
  })
}

function untilTold(): Promise<void> {
  return new Promise((stop) => {
    process.once('SIGINT', () => stop())
    process.once('SIGTERM', () => stop())
  })
}
