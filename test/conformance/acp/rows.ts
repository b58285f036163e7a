/**
 * The requirements of ACP v1 by their row: M must, N must not, S should, s should not, O may, d shape or description, – not
 * said. What the letters of a row stand for is in docs/internals/conformance.md.
 */

/** What the standard asks of an agent: the levels of A-TR-1, A-TR-2 and so on. */
export const agentRows = rowsOf('A', {
  TR: 'M M/N N O S M/S d',
  JR: 'd d d d(S) d – d',
  CV: 'M d N d M',
  IN: 'M M M S M S S M M d –',
  AU: 'd N d O d S/N',
  NW: 'M M M S O d d',
  MC: 'M S O S d O d',
  LD: 'M M d d d S S',
  RS: 'N d O d',
  LS: 'M d d S S d d O',
  DL: 'd S d',
  CL: 'M d O d',
  AD: 'M M N N d M M S N',
  PR: 'M d M d d O d O/d S O d – N s d',
  TC: 'S d S d d d d S/s S',
  PM: 'O d d',
  PL: 'S M',
  MD: 'd O',
  CF: 'M M d N N S S',
  SL: 'O d',
  CA: 'S M M –',
  CR: 'O M S d',
  FS: 'M/N d',
  TM: 'M/N M d',
  EL: 'N S M d N M O/M M/N N/S M S N',
  EX: 'M S S S N',
  ER: 'd d',
})

/** What the standard asks of a client. */
export const clientRows = rowsOf('C', {
  TR: 'N d',
  IN: 'M S S M S',
  AU: 'N N S',
  SE: 'M/N M S N M d',
  PR: 'M d d',
  CA: 'O S M S',
  PM: 'M O d',
  PL: 'M',
  CF: 'S S/M',
  FS: 'M M',
  TM: 'd M d S',
  EL: 'M N d M S d N',
  EX: 'M N',
})

function rowsOf(side: 'A' | 'C', topics: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const rows = Object.entries(topics).flatMap(([topic, levels]) =>
    levels.split(' ').map((level, index) => [`${side}-${topic}-${index + 1}`, level] as const),
  )
  return Object.fromEntries(rows)
}

/** The level that a failure has to have for the whole command to fail. */
export function isBinding(level: string): boolean {
  return /[MN]/u.test(level)
}
