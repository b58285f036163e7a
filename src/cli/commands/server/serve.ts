/** `parley serve`: runs the server, in the foreground until a signal, or as the background process of another command. */
import { configFor } from '../../configured.ts'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { EXIT_UNRECOVERABLE } from '../../../server/launch/launch.ts'
import { type RunningServer, openServer } from '../../../server/daemon/serve.ts'
import { serverInfo } from '../../../server/version.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK, TRY_AGAIN } from '../../runtime/exit-codes.ts'
import { dieAtOnce } from '../../connect/exit-on-journal-loss.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const background = options['background'] === true
  const server = await opened(background)
  if (server === undefined) return EXIT_UNRECOVERABLE
  stopOnSignals(server)
  surviveErrors(server)
  void server.lost.then((why) => dieAtOnce(why, 'The next command starts the server again.'))
  if (!background) process.stdout.write(`Parley ${serverInfo.version} listens on ${server.socket}\n`)
  await server.ended
  return OK
}

/** Undefined where the starting command must not try again: only a user can fix the reported problem. */
async function opened(background: boolean): Promise<RunningServer | undefined> {
  try {
    return await openServer(await configFor({ withoutProject: true }), { background })
  } catch (error) {
    if (!background || !isParleyError(error) || error.retryable) throw error
    complain(reasonOf(error))
    return undefined
  }
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
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
}
