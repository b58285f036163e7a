/** Where the main thread is right now, asked from another thread: works also while it runs one function without end. */
import type { Clock } from '../../ports/clock.ts'

/** Frames. */
const DEEPEST = 12
/** Main threads that are deep in the system, in a read for example, cannot be asked. Milliseconds. */
const TIMEOUT_MS = 2_000

/** Function, file and line, the innermost first; empty where it cannot be read. The main thread continues afterwards. */
export async function mainThreadStack(clock: Clock): Promise<readonly string[]> {
  const { Session } = await import('node:inspector')
  const session = new Session()
  const files = new Map<string, string>()
  session.connectToMainThread()
  try {
    return await new Promise((resolve) => {
      clock.setTimer(TIMEOUT_MS, () => resolve([]))
      session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void files.set(scriptId, url))
      session.on('Debugger.paused', ({ params: { callFrames } }) => {
        session.post('Debugger.resume')
        resolve(
          callFrames.slice(0, DEEPEST).map(({ functionName, location }) => {
            const file = files.get(location.scriptId)?.replace(/^.*\/(?=(?:chunks\/)?[^/]+$)/u, '') ?? 'unknown'
            return `${functionName || 'a function'} (${file}:${location.lineNumber + 1})`
          }),
        )
      })
      session.post('Debugger.enable')
      session.post('Debugger.pause')
    })
  } finally {
    session.disconnect()
  }
}
