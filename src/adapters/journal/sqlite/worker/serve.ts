/** The loop of the worker thread: some reads, one group of writes, and around again; it sleeps when there is nothing. */
import type { MessagePort } from 'node:worker_threads'
import { RequestQueue } from './request-queue.ts'
import type { Answer, ReadCall, WriteCall } from './messages.ts'

export interface WorkerStore {
  read(call: ReadCall): Answer
  write(group: readonly WriteCall[]): Promise<readonly Answer[]>
  /** Does one bounded piece of housekeeping; false when there is none. */
  tidy(): boolean
  close(): void
}

/** Resolves when the journal was asked to close and is closed. */
export async function serve(port: MessagePort, desk: WorkerStore): Promise<void> {
  const inbox = new RequestQueue(port)
  for (;;) {
    inbox.collect()
    for (const call of inbox.takeReads()) port.postMessage([desk.read(call)] satisfies Answer[])
    const group = inbox.takeGroup()
    if (group.length > 0) port.postMessage(await desk.write(group))
    else if (inbox.closeCall !== undefined) return close(port, desk, inbox.closeCall)
    else if (!desk.tidy()) await inbox.arrival()
  }
}

function close(port: MessagePort, desk: WorkerStore, call: number): void {
  desk.close()
  port.postMessage([[call, null]] satisfies Answer[])
}
