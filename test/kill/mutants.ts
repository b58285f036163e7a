/** Each mechanism behind the promises taken out, with the test that misses it: `npm run kill -- --mutants`. */
import type { Mutant } from '../mutants/mutant.ts'

const STORE = 'src/adapters/journal/sqlite/store/store.ts'
const WRITER = 'src/session/log/session-log.ts'
const WRITER_TEST = 'src/session/log/session-log.test.ts'
const DECIDE_TEST = 'src/session/domain/decide.test.ts'
const CALL_TEST = 'src/session/tool-call/call-tool.test.ts'
const SESSIONS_TEST = 'src/session/session-registry.test.ts'
/** Held to every journal; that of SQLite is run here. */
const CONTRACT = 'test/contracts/journal.ts'
const JOURNAL_TEST = 'src/adapters/journal/sqlite/sqlite.test.ts'
const SPAWN_TEST = 'src/adapters/process/spawn.test.ts'
const ENDS_ALL =
  'of kill -9, no process that it started survives: none that ignores SIGTERM, left its group or dropped the marker'

export const mutants: readonly Mutant[] = [
  {
    mechanism: 'fsync: a commit is on the disk before it is told',
    file: 'src/adapters/journal/sqlite/file/file.ts',
    inside: 'OWNER_PRAGMAS',
    findText: 'synchronous = FULL',
    put: 'synchronous = OFF',
    test: [
      'test/kill/sync-fails.test.ts',
      'a sync that fails ends the turn with an error, what clients saw is stored, and a later prompt works',
    ],
  },
  {
    mechanism: 'the next owner syncs what the last one had only written',
    file: 'src/adapters/journal/sqlite/file/file.ts',
    inside: 'openForOwner',
    find: 'if (existsSync($wal)) fsync($wal)',
    put: '',
    test: [
      'test/kill/unsynced.test.ts',
      'what the last owner had written and not synced is on the disk before anyone hears of it',
    ],
  },
  {
    mechanism: 'order: appended first, published then',
    file: WRITER,
    inside: 'SessionLog.#store',
    find: 'if (decided !== undefined) await decided',
    put: 'if (decided !== undefined) await decided; this.#listener.published(entries)',
    test: [WRITER_TEST, 'publishes nothing that is not stored yet'],
  },
  {
    mechanism: 'order: an append that failed leaves the state as it was',
    file: WRITER,
    inside: 'SessionLog.#reload',
    find: 'this.#state = await loadState(...$all)',
    put: '',
    test: [WRITER_TEST, 'sends every entry to every reader once'],
  },
  {
    mechanism: 'order: what follows a hole is passed over',
    file: WRITER,
    inside: 'SessionLog.#dropDependent',
    find: "$breaks && 'turnId' in $command",
    put: 'false',
    test: [
      WRITER_TEST,
      'in mid-turn reaches the readers; nothing is published after the gap, and the turn ends once when there is room',
    ],
  },
  {
    mechanism: 'order: only an append that carried something of the turn breaks it',
    file: 'src/session/session.ts',
    inside: 'Session.#failed',
    find: 'if ($breaks) this.#turns.break($error)',
    put: 'this.#turns.break($error)',
    test: [WRITER_TEST, 'does not end the turn, and no client is notified'],
  },
  {
    mechanism: 'seq without holes: an append brings all that lies between',
    file: 'src/adapters/journal/journal-base.ts',
    inside: 'checkAppend',
    find: 'if ($entry.seq !== $seq) $refuse',
    put: 'if ($entry.seq < 0) $refuse',
    test: [JOURNAL_TEST, 'entries that would leave a hole are refused', CONTRACT],
  },
  {
    mechanism: 'seq without holes: what a journal misses is said',
    file: 'src/adapters/journal/sqlite/file/check.ts',
    inside: 'checkJournal',
    find: 'holes($statements)',
    put: '[]',
    test: [
      'test/e2e/doctor.test.ts',
      'finds entries that are missing, a file that is none of ours, and a home that is a file',
    ],
  },
  {
    mechanism: 'recovery: what ran is ended, before anyone is served',
    file: 'src/session/session-registry.ts',
    inside: 'SessionRegistry.recover',
    find: 'for (const $row of $unfinished) $halt',
    put: '',
    test: [SESSIONS_TEST, 'ends interrupted turns once'],
  },
  {
    mechanism: 'recovery: an opened session has nothing left to run',
    file: 'src/session/session-registry.ts',
    inside: 'prepare',
    find: 'if (UNFINISHED.includes($phase)) await $session.recoverInterrupted()',
    put: '',
    test: [SESSIONS_TEST, 'before recovery ends a turn that a crash interrupted first'],
  },
  {
    mechanism: 'recovery: a call that had begun may have run',
    file: 'src/session/domain/finish-turn.ts',
    inside: 'abortTurn',
    find: 'endOpenCalls(...$all)',
    put: '[]',
    test: [CALL_TEST, 'interrupted by kill -9 fails as perhaps run, and is not run again'],
  },
  {
    mechanism: 'recovery: who only waited for an answer goes on',
    file: 'src/session/domain/finish-turn.ts',
    inside: 'interruptTurn',
    find: 'isOnlyWaiting($state) ? $suspended : $aborted',
    put: '$aborted',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'stays open without an attached client, also through kill -9, and its turn continues when it is answered',
    ],
  },
  {
    mechanism: 'fencing: an append follows the last entry or is refused',
    file: STORE,
    inside: 'Store.append',
    find: 'if ($last !== expected) $refuse',
    put: '',
    test: [JOURNAL_TEST, 'of two writers that expect the same, exactly one wins', CONTRACT],
  },
  {
    mechanism: 'fencing: the kernel’s lock keeps a second owner out',
    file: 'src/state-files/file-lock.ts',
    inside: 'tryLock',
    findText: 'BEGIN EXCLUSIVE',
    put: 'BEGIN',
    test: [
      'src/adapters/journal/sqlite/lock/lock.test.ts',
      'of many owners that start at once exactly one gets the lock',
    ],
  },
  {
    mechanism: 'fencing: a lock has one holder, also within a process',
    file: 'src/state-files/file-lock.ts',
    inside: 'tryLock',
    findText: 'BEGIN EXCLUSIVE',
    put: 'BEGIN',
    test: ['src/state-files/file-lock.test.ts', 'a lock has one holder at a time, also within a process'],
  },
  {
    mechanism: 'fencing: who has lost its files tells nothing more',
    file: 'src/adapters/journal/sqlite/worker/worker.ts',
    inside: 'openOwnerStore',
    find: 'requireSameFiles()',
    put: '',
    test: ['test/e2e/moved-state.test.ts', 'a server under which %s is removed ends at once and says so'],
  },
  {
    mechanism: 'dedup: a prompt that is open is not taken twice',
    file: 'src/session/domain/prompt-queue.ts',
    inside: 'isKnown',
    find: '$running === $promptId || $state.queue.some($isSame)',
    put: 'false',
    test: [DECIDE_TEST, 'sent twice in one batch runs once'],
  },
  {
    mechanism: 'dedup: a prompt that has ended is not run again',
    file: 'src/session/domain/prompt-queue.ts',
    inside: 'isKnown',
    find: 'if ($state.recentPrompts.some($isSame)) return true',
    put: '',
    test: [DECIDE_TEST, 'sent again with the id of one that is %s runs once'],
  },
  {
    mechanism: 'a call is stored as begun before its first effect',
    file: 'src/session/tool-call/call-tool.ts',
    inside: 'ToolCall.#storeInProgress',
    find: 'const $isStored = await this.#turn.store($begun)',
    put: 'void this.#turn.store($begun); const $isStored = true',
    test: [CALL_TEST, 'is stored as in progress before the tool is called'],
  },
  {
    mechanism: 'a call that may change something is never repeated',
    file: 'src/session/tool-call/call-tool.ts',
    inside: 'mayRepeat',
    find: '$builtin && $readOnly && $isLost',
    put: '$isLost',
    test: [CALL_TEST, 'that %s is never repeated'],
  },
  {
    mechanism: 'cursor: a client that resumes gets what came after it, and no more',
    file: 'src/edge/acp/v1/methods/open-methods.ts',
    inside: 'cursorIn',
    find: '$after > $head ? $refusal : $after',
    put: '$after > $head ? $refusal : undefined',
    test: [
      'src/edge/acp/v1/methods/resume.test.ts',
      'a load that was cut in the middle, repeated with the last entry that it got, sends the rest before its response',
    ],
  },
  {
    mechanism: 'cursor: what was stored while a reader caught up is told as well',
    file: 'src/session/subscribers/subscription.ts',
    inside: 'Subscription.pushEntries',
    find: '$isSlow || $first > this.#cursor + 1',
    put: '$isSlow',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'a reader that missed some entries gets them from the journal before later ones',
    ],
  },
  {
    mechanism: 'a turn whose calls only wait for input is suspended, not cut',
    file: 'src/session/domain/state.ts',
    inside: 'isOnlyWaiting',
    find: "$phase === 'working' && Object.keys($inputRequired).length > 0",
    put: 'false',
    test: [
      'src/session/domain/decide.test.ts',
      'has its turn suspended when the server stops, and resumed when a client attaches',
    ],
  },
  {
    mechanism: 'that a paused call goes on is stored before it does',
    file: 'src/session/tool-call/input-required.ts',
    inside: 'InputRequired.inputFor',
    find: '$isAborted || !(await this.#turn.store($resolved))',
    put: '$isAborted',
    test: [
      'test/model/pausing.test.ts',
      'side by side outlive a kill together; the model hears of every one of them once',
    ],
  },
  {
    mechanism: 'one answer counts: the second is told that nobody waits',
    file: 'src/session/domain/permission-answer.ts',
    inside: 'resolvePermission',
    find: 'if (!isBusy($state) || $question === undefined) return $refusal',
    put: 'if (!isBusy($state) || $question === undefined) return []',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'goes to every client; the first answer counts, and the second is refused as unknown',
    ],
  },
  {
    mechanism: 'one answer counts: what was not offered is no yes',
    file: 'src/session/domain/permission-answer.ts',
    inside: 'outcomeOf',
    find: '$option === undefined',
    put: "$option === undefined && optionId !== 'yes'",
    test: [DECIDE_TEST, 'does not take %j, which was not offered, as an approval'],
  },
  {
    mechanism: 'guard: it kills the groups when the server is dead',
    file: 'src/adapters/process/guard.ts',
    inside: 'SCRIPT',
    findText: 'tell KILL\n',
    put: '',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'guard: a child is known before its program begins',
    file: 'src/adapters/process/spawn.ts',
    inside: 'REGISTER_THEN_EXEC',
    findText: 'echo "+$$" >&3 && ',
    put: '',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'guard: what has left its group is found by its mark',
    file: 'src/adapters/process/guard.ts',
    inside: 'SCRIPT',
    findText: 'kill -s "$1" "\\${pid%/environ}" 2>/dev/null && found=1',
    put: ':',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'back-pressure: a client that does not read is owed nothing in memory',
    file: 'src/session/subscribers/subscription.ts',
    inside: 'Subscription.pushEntries',
    find: '$isSlow || $first > this.#cursor + 1',
    put: '$first > this.#cursor + 1',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'costs no memory, delays no other client, and gets every entry once when it reads again',
    ],
  },
  {
    mechanism: 'back-pressure: a client that asks and does not read is cut off',
    file: 'src/edge/transport/streams.ts',
    inside: 'openStreamTransport',
    find: '$unread > MAX_UNREAD_BYTES',
    put: '$unread > MAX_UNREAD_BYTES * 100',
    test: [
      'src/session/subscribers/slow-client.test.ts',
      'a slow client that sends request after request is disconnected; the session continues for the others, and it can reconnect',
    ],
  },
  {
    mechanism: 'back-pressure: an agent waits for a slow disk',
    file: WRITER,
    inside: 'SessionLog.post',
    find: 'return this.#hasRoom ? HAS_ROOM : this.#room()',
    put: '',
    test: [WRITER_TEST, 'pauses an agent that sends more than may be queued'],
  },
  {
    mechanism: 'a slow MCP server holds up nobody',
    file: 'src/adapters/tool-registry/mcp-tool-registry.ts',
    inside: 'McpToolRegistry.ready',
    find: 'await settled($servers, $limits)',
    put: 'await Promise.all($servers.map((server) => server.settled()))',
    test: [
      'src/adapters/tool-registry/stdio.test.ts',
      'opening never waits, and a slow, a silent and a missing server do not delay the others',
    ],
  },
  {
    mechanism: 'an MCP server that never stops talking leaves the others their time',
    file: 'src/adapters/mcp/transport/stdio.ts',
    inside: 'StdioTransport.#hear',
    find: '$heard % BURST_MESSAGES > 0',
    put: '$heard > 0',
    test: ['src/adapters/mcp/transport/stdio.test.ts', 'a server that sends %s without end is read with pauses'],
  },
  {
    mechanism: 'bad input: what is nested beyond all use is refused at the door',
    file: 'src/edge/acp/v1/methods/params.ts',
    inside: 'parseParams',
    find: 'if (isNestedDeeper(...$all)) $refuse',
    put: '',
    test: ['test/e2e/acp-hostile.test.ts', '%s that is nested beyond all use is refused'],
  },
  {
    mechanism: 'secrets: what is said of a server has none of its values',
    file: 'src/adapters/mcp/client/request/redact.ts',
    inside: 'redactor',
    find: '$secrets.reduce($hide, $text)',
    put: '$text',
    test: ['test/e2e/secrets.test.ts', 'secrets of servers and clients are in nothing that anyone else can read'],
  },
  {
    mechanism: 'root set: what leads out of it is refused, by its words and by where it really is',
    file: 'src/path-rules/path-rules.ts',
    inside: 'isBelow',
    find: 'return $path === $directory || $path.startsWith($prefix)',
    put: 'return $path.startsWith($directory.slice(0, 1))',
    test: ['src/adapters/builtin-tools/escapes.test.ts', 'through a link to %s outside is refused'],
  },
  {
    mechanism: 'path rules: a pattern catches a path',
    file: 'src/path-rules/path-rules.ts',
    inside: 'catchesPath',
    find: 'return $places.some($fits)',
    put: 'return false',
    test: ['src/session/permission/reasons.test.ts', 'are denied to an agent that reads files itself'],
  },
]

const NAMED: ReadonlySet<string> = new Set([
  'order: appended first, published then',
  'fencing: a lock has one holder, also within a process',
  'dedup: a prompt that is open is not taken twice',
  'guard: it kills the groups when the server is dead',
  'path rules: a pattern catches a path',
])

/** `npm run mutate -- --mechanisms`: one of each kind, whose tests need nothing that is built. */
export const namedMutants = mutants.filter(({ mechanism }) => NAMED.has(mechanism))
