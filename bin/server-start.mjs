/** What a server does before it loads any bundle of its own. */
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'

/**
 * How much of a function V8 runs before it optimizes it, in bytes of its bytecode; four times its own choice. While models speak at
 * their pace, a fifth of a server's processor time would go into optimizing. V8 of Node 22 and later has no such flag, and would
 * write a line about it. Once a bundle is loaded it comes too late: V8 takes back no code that was stored with other flags.
 */
if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=500000')

const url = new URL('../dist/journal-worker.cjs', import.meta.url)
const worker = new Worker(url, { execArgv: [], name: 'parley journal' })

/** The journal's thread, for which Node needs up to 50 ms: meanwhile the server reads its settings. An `EarlyWorker`. */
export const journalThread = { url, worker, hasEnded: false }

const ended = () => {
  journalThread.hasEnded = true
}
worker.on('error', ended).on('exit', ended)
// Until the server takes it. Not every `serve` opens a journal.
worker.unref()
