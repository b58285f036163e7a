/** Each mechanism behind the promises taken out, with the test that misses it: `npm run kill -- --mutants`. */
import type { Mutant } from '../mutants/mutant.ts'

const STORE = 'src/adapters/journal/sqlite/store/store.ts'
const WRITER = 'src/session/log/session-log.ts'
const WRITER_TEST = 'src/session/log/session-log.test.ts'
const DECIDE_TEST = 'src/session/domain/decide.test.ts'
const CALL_TEST = 'src/session/tool-call/call-tool.test.ts'
const SESSIONS_TEST = 'src/session/registry.test.ts'
/** Held to every journal; that of SQLite is run here. */
const CONTRACT = 'test/contracts/journal.ts'
const JOURNAL_TEST = 'src/adapters/journal/sqlite/sqlite.test.ts'
const SPAWN_TEST = 'src/adapters/process/spawn.test.ts'
const ENDS_ALL =
  'of kill -9, nothing that it started lives on: not the stubborn, not a deserter, not who forgot its mark'

export const mutants: readonly Mutant[] = [
  {
    mechanism: 'fsync: a commit is on the disk before it is told',
    file: 'src/adapters/journal/sqlite/file/file.ts',
    text: "'synchronous = FULL'",
    by: "'synchronous = OFF'",
    test: [
      'test/kill/sync-fails.test.ts',
      'a sync that fails ends the turn in words, what was told is stored, and a later prompt works',
    ],
  },
  {
    mechanism: 'the next owner syncs what the last one had only written',
    file: 'src/adapters/journal/sqlite/file/file.ts',
    text: 'if (existsSync(`${path}-wal`)) fsync(`${path}-wal`)',
    by: '',
    test: [
      'test/kill/unsynced.test.ts',
      'what the last owner had written and not synced is on the disk before anyone hears of it',
    ],
  },
  {
    mechanism: 'order: appended first, published then',
    file: WRITER,
    text: "    await faults.at('session.batch.decided')\n",
    by: "    await faults.at('session.batch.decided')\n    this.#listener.published(entries)\n",
    test: [WRITER_TEST, 'lets nobody see what it does not hold yet'],
  },
  {
    mechanism: 'order: an append that failed leaves the state as it was',
    file: WRITER,
    text: '    this.#state = await loadState(this.#ports, this.#state.id)\n',
    by: '',
    test: [WRITER_TEST, 'still has every reader told every entry once'],
  },
  {
    mechanism: 'order: what follows a hole is passed over',
    file: WRITER,
    text: "(breaksTurn && 'turnId' in command)",
    by: 'false',
    test: [
      WRITER_TEST,
      'in mid-turn tells the readers; nothing is told after the hole, and the turn ends once when there is room',
    ],
  },
  {
    mechanism: 'order: only an append that carried something of the turn breaks it',
    file: 'src/session/session.ts',
    text: 'if (breaksTurn) this.#turns.break(error)',
    by: 'this.#turns.break(error)',
    test: [WRITER_TEST, 'leaves the turn alone, and its clients hear nothing of it'],
  },
  {
    mechanism: 'seq without holes: an append brings all that lies between',
    file: 'src/adapters/journal/journal-base.ts',
    text: 'if (entry.seq !== seq) failAppend',
    by: 'if (entry.seq < 0) failAppend',
    test: [JOURNAL_TEST, 'entries that would leave a hole are refused', CONTRACT],
  },
  {
    mechanism: 'seq without holes: what a journal misses is said',
    file: 'src/adapters/journal/sqlite/file/check.ts',
    text: '...holes(statements), ',
    by: '',
    test: [
      'test/e2e/doctor.test.ts',
      'finds entries that are missing, a file that is none of ours, and a home that is a file',
    ],
  },
  {
    mechanism: 'recovery: what ran is ended, before anyone is served',
    file: 'src/session/registry.ts',
    text: "for (const row of unfinished) await this.#dispatchToStored(row.id, { kind: 'halt' }).catch(report)",
    by: '',
    test: [SESSIONS_TEST, 'settles what a crash cut, once'],
  },
  {
    mechanism: 'recovery: an opened session has nothing left to run',
    file: 'src/session/registry.ts',
    text: 'if (UNFINISHED.includes(rowOf(session.existing).phase)) await session.recoverInterrupted()',
    by: '',
    test: [SESSIONS_TEST, 'what a crash cut and nobody recovered ends it first'],
  },
  {
    mechanism: 'recovery: a call that had begun may have run',
    file: 'src/session/domain/finish-turn.ts',
    text: "endOpenCalls(state, isCancelled ? 'cancelled' : 'failed', () => 'Interrupted; it may have run.')",
    by: '[]',
    test: [CALL_TEST, 'cut by kill -9 is failed as perhaps run, and not run again'],
  },
  {
    mechanism: 'recovery: who only waited for an answer goes on',
    file: 'src/session/domain/finish-turn.ts',
    text: "isOnlyWaiting(state) ? [{ kind: 'turn_suspended', turnId: state.turn.turnId }] : abortTurn(state)",
    by: 'abortTurn(state)',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'waits with nobody attached, also through kill -9, and goes on when answered',
    ],
  },
  {
    mechanism: 'fencing: an append follows the last entry or is refused',
    file: STORE,
    text: 'if (lastSeq !== expected)',
    by: 'if (false)',
    test: [JOURNAL_TEST, 'of two writers that expect the same, exactly one wins', CONTRACT],
  },
  {
    mechanism: 'fencing: the kernel’s lock keeps a second owner out',
    file: 'src/state-files/file-lock.ts',
    text: 'BEGIN EXCLUSIVE',
    by: 'BEGIN',
    test: ['src/adapters/journal/sqlite/lock/lock.test.ts', 'of many that start at once exactly one owns'],
  },
  {
    mechanism: 'fencing: who has lost its files tells nothing more',
    file: 'src/adapters/journal/sqlite/worker/worker-stores.ts',
    text: '        requireSameFiles()\n',
    by: '',
    test: ['test/e2e/moved-state.test.ts', 'a server under which %s is removed ends at once and says so'],
  },
  {
    mechanism: 'dedup: a prompt that is open is not taken twice',
    file: 'src/session/domain/decide.ts',
    text: 'state.turn.promptId === promptId || state.queue.some((queued) => queued.promptId === promptId)',
    by: 'false',
    test: [DECIDE_TEST, 'sent twice in one breath runs once'],
  },
  {
    mechanism: 'dedup: a prompt that has ended is not run again',
    file: 'src/session/domain/decide.ts',
    text: 'if (state.recentPrompts.some((ended) => ended.promptId === promptId)) return true\n',
    by: '',
    test: [DECIDE_TEST, 'sent again with the id of one that is %s runs once'],
  },
  {
    mechanism: 'a call is stored as begun before its first effect',
    file: 'src/session/tool-call/call-tool.ts',
    text: "const isStored = await this.#turn.store({ kind: 'call', toolCallId: this.#call.toolCallId, patch })\n",
    by: "void this.#turn.store({ kind: 'call', toolCallId: this.#call.toolCallId, patch })\n    const isStored = true\n",
    test: [CALL_TEST, 'is stored as in progress before the tool is called'],
  },
  {
    mechanism: 'a call that may change something is never repeated',
    file: 'src/session/tool-call/call-tool.ts',
    text: 'return builtin && readOnly && ',
    by: 'return ',
    test: [CALL_TEST, 'that %s is never tried again'],
  },
  {
    mechanism: 'cursor: a client that resumes gets what came after it, and no more',
    file: 'src/edge/acp/v1/methods/open-methods.ts',
    text: ' : after\n',
    by: ' : undefined\n',
    test: [
      'src/edge/acp/v1/methods/resume.test.ts',
      'a load that was cut in the middle, repeated with the last entry that it got, sends the rest before its response',
    ],
  },
  {
    mechanism: 'cursor: what was stored while a reader caught up is told as well',
    file: 'src/session/subscribers/subscribers.ts',
    text: 'if (this.#sink.isBackpressured() || first > this.#cursor + 1) return this.#catchUp()',
    by: 'if (this.#sink.isBackpressured()) return this.#catchUp()',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'a reader that was not told of some entries finds them in the journal before it is told of later ones',
    ],
  },
  {
    mechanism: 'a turn whose calls only wait for input is suspended, not cut',
    file: 'src/session/domain/state.ts',
    text: "(phase === 'working' && Object.keys(inputRequired).length > 0)",
    by: 'false',
    test: [
      'src/session/domain/decide.test.ts',
      'keeps its turn when the owner stops, and the turn goes on when somebody has come',
    ],
  },
  {
    mechanism: 'that a paused call goes on is stored before it does',
    file: 'src/session/tool-call/input-required.ts',
    text: " || !(await this.#turn.store({ kind: 'tool_input_resolved', toolCallId }))",
    by: '',
    test: [
      'test/model/pausing.test.ts',
      'side by side outlive a kill together; the model hears of every one of them once',
    ],
  },
  {
    mechanism: 'one answer counts: the second is told that nobody waits',
    file: 'src/session/domain/permission-answer.ts',
    text: "  if (!isBusy(state) || question === undefined) return fail('PERMISSION_UNKNOWN', { request: requestId })\n",
    by: '  if (!isBusy(state) || question === undefined) return []\n',
    test: [
      'src/session/domain/permission-answer.test.ts',
      'goes to everyone; the first answer wins and the second is told that nobody waits',
    ],
  },
  {
    mechanism: 'one answer counts: what was not offered is no yes',
    file: 'src/session/domain/permission-answer.ts',
    text: '  return option === undefined\n',
    by: "  return option === undefined && optionId !== 'yes'\n",
    test: [DECIDE_TEST, 'takes %j, which was not offered, for no yes'],
  },
  {
    mechanism: 'guard: it kills the groups when the server is dead',
    file: 'src/adapters/process/guard.ts',
    text: 'tell KILL\n',
    by: '',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'guard: a child is known before its program begins',
    file: 'src/adapters/process/spawn.ts',
    text: 'echo "+$$" >&3 && ',
    by: '',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'guard: what has left its group is found by its mark',
    file: 'src/adapters/process/guard.ts',
    text: 'kill -s KILL "\\${pid%/environ}" 2>/dev/null && found=1',
    by: ':',
    test: [SPAWN_TEST, ENDS_ALL],
  },
  {
    mechanism: 'back-pressure: a client that does not read is owed nothing in memory',
    file: 'src/session/subscribers/subscribers.ts',
    text: 'if (this.#sink.isBackpressured() || first > this.#cursor + 1) return this.#catchUp()',
    by: 'if (first > this.#cursor + 1) return this.#catchUp()',
    test: [
      'src/session/subscribers/subscription.test.ts',
      'is owed nothing in memory, harms no other, and gets all once when it reads on',
    ],
  },
  {
    mechanism: 'back-pressure: a client that asks and does not read is cut off',
    file: 'src/edge/transport/streams.ts',
    text: '      if (output.writableLength > MAX_UNREAD_BYTES) destroy()\n',
    by: '      if (output.writableLength > MAX_UNREAD_BYTES * 100) destroy()\n',
    test: [
      'src/edge/acp/v1/attachment/slow-client.test.ts',
      'and asks and asks is cut off; the session and the others go on, and it can come back',
    ],
  },
  {
    mechanism: 'back-pressure: an agent waits for a slow disk',
    file: WRITER,
    text: 'while (this.#chars > MAX_PENDING_CHARS || this.#pending.length > MAX_PENDING_COMMANDS)',
    by: 'while (false)',
    test: [WRITER_TEST, 'pauses an agent that says more than may wait for it'],
  },
  {
    mechanism: 'a slow MCP server holds up nobody',
    file: 'src/adapters/tool-registry/registry.ts',
    text: 'await settled(worthIt, { clock: this.#clock, limitMs, signal })',
    by: 'await Promise.all(worthIt.map((server) => server.settled()))',
    test: [
      'src/adapters/tool-registry/stdio.test.ts',
      'opening never waits, and one slow, one silent and one missing server cost the others nothing',
    ],
  },
  {
    mechanism: 'an MCP server that never stops talking leaves the others their time',
    file: 'src/adapters/mcp/transport/stdio.ts',
    text: 'if (heard % BURST_MESSAGES > 0) continue',
    by: 'if (heard > 0) continue',
    test: ['src/adapters/mcp/transport/stdio.test.ts', 'without end says %s: it is read with rests in between'],
  },
  {
    mechanism: 'bad input: what is nested beyond all use is refused at the door',
    file: 'src/edge/acp/v1/methods/params.ts',
    text: "if (isNestedDeeper(params, MAX_NESTING)) fail('PARAMS_INVALID', { method, reason: 'they are nested too deeply' })",
    by: '',
    test: ['test/e2e/acp-hostile.test.ts', '%s that is nested beyond all use is refused'],
  },
  {
    mechanism: 'secrets: what is said of a server has none of its values',
    file: 'src/adapters/mcp/client/request/redact.ts',
    text: 'secrets.reduce((said, secret) => said.replaceAll(secret, HIDDEN), text)',
    by: 'text',
    test: ['test/e2e/secrets.test.ts', 'secrets of servers and clients are in nothing that anyone else can read'],
  },
  {
    mechanism: 'root set: what leads out of it is refused, by its words and by where it really is',
    file: 'src/access/path-access.ts',
    text: "return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)",
    by: 'return path.startsWith(directory.slice(0, 1))',
    test: ['src/adapters/builtin-tools/escapes.test.ts', 'through a link to %s outside leads nowhere'],
  },
]
