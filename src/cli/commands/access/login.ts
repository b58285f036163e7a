/** `parley login URL`: makes this machine a device of a remote server, or keeps a token for it. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { type KnownServer, KnownServers, pageAddressOf, requireName } from '../../remote/known-servers.ts'
import { openRemote, pairWith } from '../../remote/remote-stream.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption, textsOption } from '../../runtime/options.ts'

const HEADER = /^([!#$%&'*+.^`|~\w-]+): *(.*)$/u

export async function run({ args: [text = ''], options }: CommandInput): Promise<number> {
  const page = pageAddressOf(text) ?? badUrl(text)
  const name = textOption(options, 'name') ?? nameFor(page)
  // Checked first, because a link can be used only once.
  requireName(name)
  const ca = certificateIn(textOption(options, 'ca'))
  const headers = headersFrom(textsOption(options, 'header'))
  const { home } = await configFor()
  const more = { ...(ca !== undefined && { ca }), ...(Object.keys(headers).length > 0 && { headers }) }
  const secret = new URL(text).hash.replace(/^#/u, '') || (await pasted())
  const server: KnownServer = { name, url: page, ...more, token: await tokenFor(secret, { name, url: page, ...more }) }
  // Connects once before anything is stored, so that a wrong address or token is reported now.
  ;(await openRemote(server)).destroy()
  new KnownServers(home).add(server)
  if (options['json'] === true) printJson({ name, url: page })
  else process.stdout.write(`Logged in to ${name}. Use it with: parley --server ${name}\n`)
  return OK
}

/** The first part of a host name, or the whole address where the host has none. */
function nameFor(page: string): string {
  const host = new URL(page).hostname.replace(/^\[|\]$/gu, '')
  if (isIP(host) === 0) return host.split('.')[0] || 'server'
  return host.replace(/:+/gu, '-').replace(/^-/u, '')
}

/** Exchanges a pairing link, its code or its fragment for a token. A token is returned as it is. */
async function tokenFor(secret: string, server: KnownServer): Promise<string> {
  const code = /^(?:.*#)?(?:pair=)?([\w-]{26})$/u.exec(secret)?.[1]
  if (code === undefined) return secret.replace(/^.*#/u, '')
  return (await pairWith(server, code, hostname())).token
}

/** Read from standard input, so that the secret is neither in the list of processes nor in the history of the shell. */
async function pasted(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Paste a pairing link or a token, then Enter: ')
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) if (line.trim() !== '') return line.trim()
  return fail('CONFIG_INVALID', {
    key: 'URL',
    value: 'without a code',
    reason: 'give a pairing link, or a token on standard input',
  })
}

function headersFrom(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = HEADER.exec(text) ?? []
      if (name !== undefined && value !== undefined) return [name.toLowerCase(), value]
      return fail('CONFIG_INVALID', { key: '--header', value: 'set', reason: 'it must be of the form NAME: VALUE' })
    }),
  )
}

/** Kept by its whole path: commands run in any directory. Throws CONFIG_INVALID. */
function certificateIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    readFileSync(file)
    return resolve(file)
  } catch (error) {
    return fail('CONFIG_INVALID', { key: '--ca', value: JSON.stringify(file), reason: reasonOf(error) }, error)
  }
}

function badUrl(text: string): never {
  const reason = 'it must be a pairing link, or an address such as https://parley.example'
  return fail('CONFIG_INVALID', { key: 'URL', value: JSON.stringify(text.replace(/#.*$/su, '')), reason })
}
