/** `parley docs DIR…`: serves until a signal stops it. */
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { docsKey, openDocs, openDocsOverStdio } from '../../../server/compose/docs-server.ts'
import { addedCollections, collectionRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { textOption } from '../../runtime/options.ts'
import { directoryFrom } from './directory.ts'

type Options = CommandInput['options']

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await configFor()
  const directories = args.map(directoryFrom)
  const added = addedCollections(await collectionRecords(config.home).all())
  if (directories.length + added.length === 0) {
    fail('CONFIG_INVALID', { key: 'DIR', value: 'absent', reason: 'name a directory to serve, or parley docs add one' })
  }
  if (added.length > 0) say(`Also serving what was added: ${added.map(({ name }) => name).join(', ')}.`)
  return options['stdio'] === true ? overStdio(config, directories) : overHttp(config, directories, options)
}

async function overHttp(config: Config, directories: readonly string[], options: Options): Promise<number> {
  const host = textOption(options, 'host') ?? '127.0.0.1'
  const key = await docsKey(config, { host, file: textOption(options, 'keyFile') })
  for (const warning of key.warnings) say(`Warning: ${warning}`)
  const server = await openDocs(config, {
    directories,
    key: key.key,
    host,
    port: portOf(textOption(options, 'port')),
    log: say,
    insecureHttp: options['insecureHttp'] === true,
    ...(options['allowQueryKey'] === true ? { allowQueryKey: true } : {}),
    ...hostsOf(textOption(options, 'allowHost')),
    ...tlsOf(options),
  })
  process.stdout.write(`${server.url}\n`)
  say(`Serving ${directories.join(', ') || 'what was added'} over MCP (Streamable HTTP). Stop with Ctrl-C.`)
  say(
    key.path === undefined
      ? 'The key is the value of PARLEY_DOCS_KEY.'
      : `The key is in ${key.path}. Send it as Authorization: Bearer, X-API-Key or ?api_key=.`,
  )
  say(`The search page for people is ${server.page} (sign in with the same key).`)
  await untilSignal()
  await server.close()
  return 0
}

async function overStdio(config: Config, directories: readonly string[]): Promise<number> {
  const { stdin: input, stdout: output } = process
  const docs = await openDocsOverStdio(config, { directories, log: say, input, output })
  await Promise.race([docs.ended, untilSignal()])
  await docs[Symbol.asyncDispose]()
  return 0
}

/** stdout has the address or the protocol and nothing else, so that a program can read it. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function hostsOf(names: string | undefined): { readonly allowedHosts?: readonly string[] } {
  return names === undefined ? {} : { allowedHosts: names.split(',').map((name) => name.trim()) }
}

function tlsOf(options: Options): { readonly tls?: { readonly certFile: string; readonly keyFile: string } } {
  const [certFile, keyFile] = [textOption(options, 'tlsCert'), textOption(options, 'tlsKey')]
  if (certFile === undefined && keyFile === undefined) return {}
  if (certFile !== undefined && keyFile !== undefined) return { tls: { certFile, keyFile } }
  return fail('CONFIG_INVALID', {
    key: certFile === undefined ? '--tls-cert' : '--tls-key',
    value: 'absent',
    reason: 'a certificate and its key belong together',
  })
}

function portOf(text = '0'): number {
  const port = Number(text)
  if (/^\d+$/u.test(text) && port <= 65_535) return port
  return fail('CONFIG_INVALID', {
    key: '--port',
    value: JSON.stringify(text),
    reason: 'it must be a whole number from 0 to 65535',
  })
}

function untilSignal(): Promise<void> {
  return new Promise((stop) => {
    process.once('SIGINT', () => stop())
    process.once('SIGTERM', () => stop())
  })
}
