/** The journal's worker thread: it alone loads SQLite, holds the owner's lock and touches the disk. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../clock.ts'
import { faultsFrom } from '../../../fault.ts'
import { StallWatch } from '../../../watchdog/stall-watch.ts'
import { journalPath, openOwnerStore, openReaderStore } from './worker-stores.ts'
import { type Answer, opening, type WorkerOrder } from './messages.ts'
import { refusalOf } from '../file/sqlite-errors.ts'
import { type WorkerStore, serve } from './serve.ts'

if (parentPort !== null) await run(parentPort, workerData as WorkerOrder)

async function run(port: MessagePort, order: WorkerOrder): Promise<void> {
  const desk = tryOpen(port, order)
  const watch = order.watch === undefined ? undefined : new StallWatch(order.watch, systemClock)
  if (desk !== undefined) {
    watch?.start()
    await serve(port, desk)
  }
  watch?.stop()
  // The thread ends here, and with it the last descriptors close.
  port.close()
}

function tryOpen(port: MessagePort, { directory, role, faults }: WorkerOrder): WorkerStore | undefined {
  try {
    const desk =
      role === 'owner'
        ? openOwnerStore(directory, faultsFrom(faults))
        : openReaderStore(directory, { quiet: role === 'inspector' })
    port.postMessage([[opening, null]] satisfies Answer[])
    return desk
  } catch (error) {
    port.postMessage([[opening, null, refusalOf(error, journalPath(directory))]] satisfies Answer[])
    return undefined
  }
}
