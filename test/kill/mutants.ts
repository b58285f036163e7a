/** Each mechanism behind the promises taken out, with the test that misses it: `npm run kill -- --mutants`. */
import { type Mutant, mutant } from '../mutants/mutant.ts'

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
  mutant('fsync: a commit is on the disk before it is told', {
    at: ['src/adapters/journal/sqlite/file/file.ts', 'OWNER_PRAGMAS'],
    findText: 'synchronous = FULL',
    put: 'synchronous = OFF',
    test: [
      'test/kill/sync-fails.test.ts',
      'a sync that fails ends the turn with an error, what clients saw is stored, and a later prompt works',
    ],
  }),
  mutant('the next owner syncs what the last one had only written', {
    at: ['src/adapters/journal/sqlite/file/file.ts', 'openForOwner'],
    find: 'if (existsSync($wal)) fsync($wal)',
    test: [
      'test/kill/unsynced.test.ts',
      'what the last owner had written and not synced is on the disk before anyone hears of it',
    ],
  }),
  mutant('order: appended first, published then', {
    at: [WRITER, 'SessionLog.#store'],
    find: 'if (decided !== undefined) await decided',
    put: 'if (decided !== undefined) await decided; this.#listener.published(entries)',
    test: [WRITER_TEST, 'publishes nothing that is not stored yet'],
  }),
  mutant('order: an append that failed leaves the state as it was', {
    at: [WRITER, 'SessionLog.#reload'],
    find: 'this.#state = await loadState(...$all)',
    test: [WRITER_TEST, 'sends every entry to every reader once'],
  }),
  mutant('order: what follows a hole is passed over', {
    at: [WRITER, 'SessionLog.#dropDependent'],
    find: "$breaks && 'turnId' in $command",
    put: 'false',
    test: [
      WRITER_TEST,
      'in mid-turn reaches the readers; nothing is published after the gap, and the turn ends once when there is room',
    ],
  }),
  mutant('order: only an append that carried something of the turn breaks it', {
    at: ['src/session/session.ts', 'Session.#failed'],
    find: 'if ($breaks) this.#turns.break($error)',
    put: 'this.#turns.break($error)',
    test: [WRITER_TEST, 'does not end the turn, and no client is notified'],
  }),
  mutant('seq without holes: an append brings all that lies between', {
    at: ['src/adapters/journal/journal-base.ts', 'checkAppend'],
    find: 'if ($entry.seq !== $seq) $refuse',
    put: 'if ($entry.seq < 0) $refuse',
    test: [JOURNAL_TEST, 'entries that would leave a hole are refused', CONTRACT],
  }),
  mutant('seq without holes: what a journal misses is said', {
    at: ['src/adapters/journal/sqlite/file/check.ts', 'checkJournal'],
    find: 'holes($statements)',
    put: '[]',
    test: [
      'test/e2e/doctor.test.ts',
      'finds entries that are missing, a file that is none of ours, and a home that is a file',
    ],
  }),
  mutant('recovery: what ran is ended, before anyone is served', {
    at: ['src/session/session-registry.ts', 'SessionRegistry.recover'],
    find: 'for (const $row of $unfinished) $halt',
    test: [SESSIONS_TEST, 'ends interrupted turns once'],
  }),
  mutant('recovery: an opened session has nothing left to run', {
    at: ['src/session/session-registry.ts', 'prepare'],
    find: 'if (UNFINISHED.includes($phase)) await $session.recoverInterrupted()',
    test: [SESSIONS_TEST, 'before recovery ends a turn that a crash interrupted first'],
  }),
  mutant('recovery: a call that had begun may have run', {
    at: ['src/session/domain/finish-turn.ts', 'abortTurn'],
    find: 'endOpenCalls(...$all)',
    put: '[]',
    test: [CALL_TEST, 'interrupted by kill -9 fails as perhaps run, and is not run again'],
  }),
  mutant('recovery: who only waited for an answer goes on', {
    at: ['src/session/domain/finish-turn.ts', 'interruptTurn'],
    find: 'isOnlyWaiting($state) ? $suspended : $aborted',
    put: '$aborted',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'stays open without an attached client, also through kill -9, and its turn continues when it is answered',
    ],
  }),
  mutant('fencing: an append follows the last entry or is refused', {
    at: [STORE, 'Store.append'],
    find: 'if ($last !== expected) $refuse',
    test: [JOURNAL_TEST, 'of two writers that expect the same, exactly one wins', CONTRACT],
  }),
  mutant('fencing: the kernel’s lock keeps a second owner out', {
    at: ['src/state-files/file-lock.ts', 'tryLock'],
    findText: 'BEGIN EXCLUSIVE',
    put: 'BEGIN',
    test: [
      'src/adapters/journal/sqlite/lock/lock.test.ts',
      'of many owners that start at once exactly one gets the lock',
    ],
  }),
  mutant('fencing: a lock has one holder, also within a process', {
    at: ['src/state-files/file-lock.ts', 'tryLock'],
    findText: 'BEGIN EXCLUSIVE',
    put: 'BEGIN',
    test: ['src/state-files/file-lock.test.ts', 'a lock has one holder at a time, also within a process'],
  }),
  mutant('fencing: who has lost its files tells nothing more', {
    at: ['src/adapters/journal/sqlite/worker/worker.ts', 'openOwnerStore'],
    find: 'requireSameFiles()',
    test: ['test/e2e/moved-state.test.ts', 'a server under which %s is removed ends at once and says so'],
  }),
  mutant('dedup: a prompt that is open is not taken twice', {
    at: ['src/session/domain/prompt-queue.ts', 'isKnown'],
    find: '$running === $promptId || $state.queue.some($isSame)',
    put: 'false',
    test: [DECIDE_TEST, 'sent twice in one batch runs once'],
  }),
  mutant('dedup: a prompt that has ended is not run again', {
    at: ['src/session/domain/prompt-queue.ts', 'isKnown'],
    find: 'if ($state.recentPrompts.some($isSame)) return true',
    test: [DECIDE_TEST, 'sent again with the id of one that is %s runs once'],
  }),
  mutant('a call is stored as begun before its first effect', {
    at: ['src/session/tool-call/call-tool.ts', 'ToolCall.#storeInProgress'],
    find: 'const $isStored = await this.#turn.store($begun)',
    put: 'void this.#turn.store($begun); const $isStored = true',
    test: [CALL_TEST, 'is stored as in progress before the tool is called'],
  }),
  mutant('a call that may change something is never repeated', {
    at: ['src/session/tool-call/call-tool.ts', 'mayRepeat'],
    find: '$builtin && $readOnly && $isLost',
    put: '$isLost',
    test: [CALL_TEST, 'that %s is never repeated'],
  }),
  mutant('cursor: a client that resumes gets what came after it, and no more', {
    at: ['src/edge/acp/v1/methods/open-methods.ts', 'cursorIn'],
    find: '$after > $head ? $refusal : $after',
    put: '$after > $head ? $refusal : undefined',
    test: [
      'src/edge/acp/v1/methods/resume.test.ts',
      'a load that was cut in the middle, repeated with the last entry that it got, sends the rest before its response',
    ],
  }),
  mutant('cursor: what was stored while a reader caught up is told as well', {
    at: ['src/session/subscribers/subscription.ts', 'Subscription.pushEntries'],
    find: '$isSlow || $first > this.#cursor + 1',
    put: '$isSlow',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'a reader that missed some entries gets them from the journal before later ones',
    ],
  }),
  mutant('a turn whose calls only wait for input is suspended, not cut', {
    at: ['src/session/domain/state.ts', 'isOnlyWaiting'],
    find: "$phase === 'working' && Object.keys($inputRequired).length > 0",
    put: 'false',
    test: [
      'src/session/domain/decide.test.ts',
      'has its turn suspended when the server stops, and resumed when a client attaches',
    ],
  }),
  mutant('that a paused call goes on is stored before it does', {
    at: ['src/session/tool-call/input-required.ts', 'InputRequired.inputFor'],
    find: '$isAborted || !(await this.#turn.store($resolved))',
    put: '$isAborted',
    test: [
      'test/model/pausing.test.ts',
      'side by side outlive a kill together; the model hears of every one of them once',
    ],
  }),
  mutant('one answer counts: the second is told that nobody waits', {
    at: ['src/session/domain/permission-answer.ts', 'resolvePermission'],
    find: 'if (!isBusy($state) || $question === undefined) return $refusal',
    put: 'if (!isBusy($state) || $question === undefined) return []',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'goes to every client; the first answer counts, and the second is refused as unknown',
    ],
  }),
  mutant('one answer counts: what was not offered is no yes', {
    at: ['src/session/domain/permission-answer.ts', 'outcomeOf'],
    find: '$option === undefined',
    put: "$option === undefined && optionId !== 'yes'",
    test: [DECIDE_TEST, 'does not take %j, which was not offered, as an approval'],
  }),
  mutant('guard: it kills the groups when the server is dead', {
    at: ['src/adapters/process/guard.ts', 'SCRIPT'],
    findText: 'tell KILL\n',
    test: [SPAWN_TEST, ENDS_ALL],
  }),
  mutant('guard: a child is known before its program begins', {
    at: ['src/adapters/process/spawn.ts', 'REGISTER_THEN_EXEC'],
    findText: 'echo "+$$" >&3 && ',
    test: [SPAWN_TEST, ENDS_ALL],
  }),
  mutant('guard: what has left its group is found by its mark', {
    at: ['src/adapters/process/guard.ts', 'SCRIPT'],
    findText: 'kill -s "$1" "\\${pid%/environ}" 2>/dev/null && found=1',
    put: ':',
    test: [SPAWN_TEST, ENDS_ALL],
  }),
  mutant('back-pressure: a client that does not read is owed nothing in memory', {
    at: ['src/session/subscribers/subscription.ts', 'Subscription.pushEntries'],
    find: '$isSlow || $first > this.#cursor + 1',
    put: '$first > this.#cursor + 1',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'costs no memory, delays no other client, and gets every entry once when it reads again',
    ],
  }),
  mutant('back-pressure: a client that asks and does not read is cut off', {
    at: ['src/edge/transport/streams.ts', 'openStreamTransport'],
    find: '$unread > MAX_UNREAD_BYTES',
    put: '$unread > MAX_UNREAD_BYTES * 100',
    test: [
      'src/session/subscribers/slow-client.test.ts',
      'a slow client that sends request after request is disconnected; the session continues for the others, and it can reconnect',
    ],
  }),
  mutant('back-pressure: an agent waits for a slow disk', {
    at: [WRITER, 'SessionLog.post'],
    find: 'return this.#hasRoom ? HAS_ROOM : this.#room()',
    test: [WRITER_TEST, 'pauses an agent that sends more than may be queued'],
  }),
  mutant('a slow MCP server holds up nobody', {
    at: ['src/adapters/tool-registry/mcp-tool-registry.ts', 'McpToolRegistry.ready'],
    find: 'await settled($servers, $limits)',
    put: 'await Promise.all($servers.map((server) => server.settled()))',
    test: [
      'src/adapters/tool-registry/stdio.test.ts',
      'opening never waits, and a slow, a silent and a missing server do not delay the others',
    ],
  }),
  mutant('an MCP server that never stops talking leaves the others their time', {
    at: ['src/adapters/mcp/transport/stdio.ts', 'StdioTransport.#hear'],
    find: '$heard % BURST_MESSAGES > 0',
    put: '$heard > 0',
    test: ['src/adapters/mcp/transport/stdio.test.ts', 'a server that sends %s without end is read with pauses'],
  }),
  mutant('bad input: what is nested beyond all use is refused at the door', {
    at: ['src/edge/acp/v1/methods/params.ts', 'parseParams'],
    find: 'if (isNestedDeeper(...$all)) $refuse',
    test: ['test/e2e/acp-hostile.test.ts', '%s that is nested beyond all use is refused'],
  }),
  mutant('secrets: what is said of a server has none of its values', {
    at: ['src/adapters/mcp/client/request/redact.ts', 'redactor'],
    find: '$secrets.reduce($hide, $text)',
    put: '$text',
    test: ['test/e2e/secrets.test.ts', 'secrets of servers and clients are in nothing that anyone else can read'],
  }),
  mutant('root set: what leads out of it is refused, by its words and by where it really is', {
    at: ['src/path-rules/path-rules.ts', 'isBelow'],
    find: 'return $path === $directory || $path.startsWith($prefix)',
    put: 'return $path.startsWith($directory.slice(0, 1))',
    test: ['src/adapters/builtin-tools/escapes.test.ts', 'through a link to %s outside is refused'],
  }),
  mutant('path rules: a pattern catches a path', {
    at: ['src/path-rules/path-rules.ts', 'catchesPath'],
    find: 'return $places.some($fits)',
    put: 'return false',
    test: ['src/session/permission/reasons.test.ts', 'are denied to an agent that reads files itself'],
  }),
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
