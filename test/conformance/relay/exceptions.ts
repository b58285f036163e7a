/** The tests of the relay that say something of a server whose sessions are its own. Their names are those that Vitest prints. */

const DAMAGED = 'It damages the journal of its state directory, and a node of a cluster has none.'

export const exceptions: readonly { readonly test: string; readonly reason: string }[] = [
  { test: 'a client that must wait for a server is told at once what it offers, as the last one did', reason: DAMAGED },
  { test: 'a server that cannot start is told once, and the client is answered', reason: DAMAGED },
  { test: 'an editor that has closed standard error is answered all the same', reason: DAMAGED },
  {
    test: 'when no server can be started everyone who waits is told, and the next message tries again',
    reason: DAMAGED,
  },
]
