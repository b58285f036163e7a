/** `parley serve`: runs the server, in the foreground until a signal, or as the background process of another command. */
import { isIP } from 'node:net'
import { configFor } from '../../configured.ts'
import type { RemoteAccess } from '../../../config/listen.ts'
import { fail, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { EXIT_UNRECOVERABLE } from '../../../server/launch/launch.ts'
import { openOwnJournal } from '../../../server/compose/open-state.ts'
import type { RunningServer } from '../../../server/daemon/serve.ts'
import { serverInfo } from '../../../server/server-info.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { textOption, textsOption } from '../../runtime/options.ts'
import { stopSignals } from '../../runtime/stop-signals.ts'
import { FAILED, OK, TRY_AGAIN } from '../../runtime/exit-codes.ts'
import { dieAtOnce } from '../../connect/exit-on-journal-loss.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const background = options['background'] === true
  const server = await startOrExplain(background, options)
  if (server === undefined) return EXIT_UNRECOVERABLE
  stopOnSignals(server)
  surviveErrors(server)
  void server.lost.then((why) => dieAtOnce(why, 'The next command starts the server again.'))
  if (!background)
    process.stdout.write(`Parley ${serverInfo.version} listens on ${[server.socket, ...server.urls].join(' and ')}\n`)
  if (!background && server.remark !== undefined) complain(server.remark)
  await server.ended
  return OK
}

/** Undefined where the starting command must not try again: only a user can fix the reported problem. */
async function startOrExplain(
  background: boolean,
  options: CommandInput['options'],
): Promise<RunningServer | undefined> {
  try {
    const listen = textsOption(options, 'listen')
    const config = await configFor({
      withoutProject: true,
      listen: listen.length === 0 ? undefined : listen.join(','),
      cluster: textOption(options, 'cluster'),
    })
    const access = accessFrom(options)
    const own = openOwnJournal(config)
    const { openServer } = await import('../../../server/daemon/serve.ts')
    return await openServer(config, { background, access, own })
  } catch (error) {
    if (!background || !isParleyError(error) || error.retryable) throw error
    complain(reasonOf(error))
    return undefined
  }
}

/** Throws CONFIG_INVALID. */
function accessFrom(options: CommandInput['options']): RemoteAccess {
  const [certFile, keyFile] = [textOption(options, 'tlsCert'), textOption(options, 'tlsKey')]
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const key = certFile === undefined ? '--tls-cert' : '--tls-key'
    fail('CONFIG_INVALID', { key, value: 'absent', reason: 'a certificate and its key belong together' })
  }
  const clientCaFile = textOption(options, 'clientCa')
  if (clientCaFile !== undefined && certFile === undefined) {
    const reason = 'clients show certificates over TLS alone; add --tls-cert and --tls-key'
    fail('CONFIG_INVALID', { key: '--client-ca', value: JSON.stringify(clientCaFile), reason })
  }
  return {
    tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile, clientCaFile },
    publicUrl: publicUrlFrom(textOption(options, 'publicUrl')),
    allowedOrigins: textsOption(options, 'allowOrigin').map(originFrom),
    trustedProxies: textsOption(options, 'trustProxy').map(networkFrom),
    insecureHttp: options['insecureHttp'] === true,
  }
}

function originFrom(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && url.origin !== 'null' && url.origin === text) return text
  const reason = 'it must be an origin, such as https://app.example'
  return fail('CONFIG_INVALID', { key: '--allow-origin', value: JSON.stringify(text), reason })
}

function networkFrom(text: string): string {
  const [address = '', bits] = text.split('/')
  const most = isIP(address) === 6 ? 128 : 32
  if (isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= most))) return text
  const reason = 'it must be an address, such as 127.0.0.1, or a network, such as 10.0.0.0/8'
  return fail('CONFIG_INVALID', { key: '--trust-proxy', value: JSON.stringify(text), reason })
}

function publicUrlFrom(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.protocol === 'https:' && `${url.origin}${url.pathname}` === url.href
  if (url !== undefined && isPlain) return url
  const reason = 'it must be an https address, such as https://parley.example'
  return fail('CONFIG_INVALID', { key: '--public-url', value: JSON.stringify(text), reason })
}

/**
 * An uncaught error ends the process only where `uncaught` names a reason. It then ends as by kill -9, so that the next
 * server recovers.
 */
function surviveErrors(server: RunningServer): void {
  const judge = (error: unknown, kind: 'exception' | 'rejection'): void => {
    const why = server.uncaught(error, kind)
    if (why === undefined) return
    process.stderr.write(`parley: The server ends at once, because ${why}. The next command starts it again.\n`)
    process.exit(FAILED)
  }
  process.on('uncaughtException', (error) => judge(error, 'exception'))
  process.on('unhandledRejection', (error) => judge(error, 'rejection'))
}

/** The first signal lets turns end, the second does not wait for them, the third ends the process at once. */
function stopOnSignals(server: RunningServer): void {
  let heard = 0
  const stop = (signal: string): void => {
    heard += 1
    if (heard === 1) server.stop(signal)
    else if (heard === 2) server.stop(signal, 0)
    else process.exit(TRY_AGAIN)
  }
  for (const signal of stopSignals()) process.on(signal, stop)
}
