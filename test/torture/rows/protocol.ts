/** Rows of the base protocol, of how servers are met, and of the transports. */
import { excused, http, lists, logins, newest, official, row, stdio, within, sse, type Row } from './row.ts'

const spawning = within('src/adapters/process/spawn.test.ts')
const hosting = within('src/adapters/tool-registry/http.test.ts')

export const protocolRows: readonly Row[] = [
  // Base protocol
  row(
    'B1',
    'every request has an id of its own, never null',
    stdio("row: 'B1 B2 B4'"),
    stdio('answers with ids of another type'),
  ),
  row('B2', 'no answer to a notification, no batch', stdio('asks though it may not'), stdio("row: 'B1 B2 B4'")),
  row('B3', 'a result of no known type is invalid', stdio('answers with results of no known type')),
  row('B4', 'no key of _meta under names that are not ours', stdio("row: 'B1 B2 B4'")),
  row(
    'B5',
    'both codes for a resource that is not there',
    stdio('has everything in the newest protocol'),
    lists('has resources and prompts'),
  ),
  excused('B6', 'trace context only in its standard form', 'nothing of the kind is sent', stdio("row: 'B1 B2 B4'")),
  row('B7', 'icons are not fetched', http('has pictures for everything')),

  // Older lifecycle
  row(
    'L1',
    'initialize comes first, with the newest of the older revisions',
    stdio("row: 'L1 L2 L4'"),
    official('initialize'),
  ),
  row('L2', 'initialized follows it, and nothing before', stdio("row: 'L1 L2 L4'")),
  row(
    'L3',
    'another revision that we know is used, an unknown one is the end',
    stdio('speaks 2024-11-05'),
    stdio('speaks only 2023-01-01'),
  ),
  row('L4', 'only what the server says that it has is used', stdio('announces no tools'), stdio("row: 'L1 L2 L4'")),
  row('L5', 'initialize is never cancelled', stdio('greets slowly')),
  row(
    'L6',
    'every request has its limit, and one that no progress moves',
    lists('lists resources never'),
    ['test/torture/call.test.ts', 'shows progress for ever'],
    ['test/torture/call.test.ts', 'never answers a call'],
  ),
  row(
    'L7',
    'people see which server failed and why',
    stdio('speaks only 2023-01-01'),
    hosting('is not there, or is no address at all'),
    ['test/e2e/cli-mcp.test.ts', 'a server that cannot be connected says why'],
  ),

  // Newest lifecycle
  row(
    'N1',
    'every request says its revision and what we can do',
    official('request-metadata'),
    stdio('speaks only the newest protocol'),
  ),
  row('N2', 'a revision that the server names is tried', official('request-metadata')),
  row(
    'N3',
    'a process is asked for the newest protocol, and any other answer or silence means the older',
    stdio('dies when asked'),
    stdio('fails everything after it'),
    stdio('lists no tools after it'),
    stdio('answers the question with nonsense'),
    stdio('says nothing to the question'),
  ),
  row(
    'N4',
    'over HTTP a refusal is looked into before the older protocol is tried',
    http('405'),
    http('in JSON-RPC'),
    http('never answers the question'),
  ),
  row(
    'N5',
    'what was found out is remembered, and forgotten where it does not hold',
    stdio("row: 'N5'"),
    stdio('is slow to say'),
    newest('is replaced by one that speaks'),
  ),
  row(
    'N6',
    '401, 5xx and silence say nothing of the protocol',
    http('lets nobody in'),
    http('is overloaded when it is met'),
  ),
  row('N7', 'what a server calls itself decides nothing', lists("row: 'T7'"), stdio('greets with malformed words')),
  excused(
    'N8',
    'a process is not tied to one conversation',
    'each session has its own unless the configuration shares it',
    within('src/adapters/tool-registry/sharing.test.ts')('have a process each, unless the configuration shares it'),
  ),
  row(
    'N9',
    'extensions only where both sides have them',
    stdio('says nothing of what it has'),
    lists('has malformed tools among good ones'),
  ),

  // stdio
  row('S1', 'one message a line, and nothing else', stdio('splits its characters'), stdio("row: 'B1 B2 B4'")),
  row(
    'S2',
    'stderr is no error, and is bounded',
    stdio('complains without end'),
    spawning('may write ten megabytes of complaints'),
  ),
  row(
    'S3',
    'asked to end before it is made to',
    stdio('stays at the end of its input'),
    spawning('asks before it kills'),
  ),
  row('S4', 'the whole group ends', stdio('has a grandchild that ignores every signal')),
  row('S5', 'children die when we do', spawning('of kill -9, nothing that it started lives on'), [
    'test/torture/many-sessions.test.ts',
    'sessions that are closed leave no process',
  ]),
  row(
    'S6',
    'a server that ended is started again, later and later, with what it said last',
    stdio('ends in the middle of a call'),
    stdio('ends once'),
    stdio('ends soon after each start'),
    stdio('forgets who watches when it ends'),
    stdio('closes its output and stays'),
  ),
  row('S7', 'a cancel is told, and what comes late is ignored', [
    'test/torture/call.test.ts',
    'answers after it was told to stop',
  ]),
  row('S8', 'in the newest protocol no request of a server is answered', stdio('asks though it may not')),
  row('S9', 'junk on stdout harms nobody', stdio('writes a banner and junk')),
  row('S10', 'one message is bounded', stdio('answers with a line without end')),
  row('S11', 'no login for processes', logins('is never shown a login')),
  row(
    'S12',
    'an allow-listed environment',
    stdio('tells its environment'),
    spawning('sees the allow-listed environment'),
  ),
  row('S13', 'stdio is spoken', ['src/adapters/tool-registry/stdio.test.ts', 'a server is met, asked who it is']),

  // Streamable HTTP, older
  row(
    'H1',
    'each message its own POST, both forms of answers',
    hosting('is listed, called and left by answers as'),
    official('tools_call'),
  ),
  row('H2', 'the revision on everything', http('wants its headers on everything')),
  row('H3', 'the session on everything', http('wants its headers on everything')),
  row(
    'H4',
    'a forgotten session is met anew, once for all calls',
    http('forgets its sessions while ten calls come'),
    http('forgets every session at once'),
  ),
  row(
    'H5',
    'the session is ended when it is done with',
    ['test/e2e/mcp-processes.test.ts', 'sessions at HTTP servers end with the session that has one alone'],
    http('is left by two sessions that share it'),
    http('is kept for sessions to come when the host ends'),
    http('does not hear the goodbye'),
  ),
  row(
    'H6',
    'no stream is no fault',
    http('has no stream'),
    http('says 404 where it has no stream'),
    http('answers notifications with 200'),
  ),
  row(
    'H7',
    'an answer goes on where it broke, at the pace that the server wants',
    http('goes on with an answer elsewhere'),
    http('promises to go on with an answer and does not'),
    http('wants to be asked again in no time'),
    official('sse-retry'),
  ),
  row('H8', 'a cancel is said in words', http('is told of a cancelled call by word')),
  row('H9', 'an event without data is no message', http('goes on with an answer elsewhere'), official('sse-retry')),
  row(
    'H10',
    'the stream of notices lives as long as the session',
    http('loses its stream four times'),
    http('refuses its stream at first'),
  ),
  row(
    'H11',
    'a quiet stream or a slow call is not given up',
    ['test/torture/quiet.ts', 'hear'],
    ['test/torture/main.ts', 'heard after six minutes'],
  ),
  row('H12', 'a 409 ends the session and not in a loop', http('takes a dead stream for alive')),

  // Streamable HTTP, newest
  row(
    'M1',
    'method and name in headers',
    newest('hands out a session all the same'),
    official('http-standard-headers'),
  ),
  row(
    'M2',
    'names that no header can hold',
    newest('hands out a session all the same'),
    official('http-custom-headers'),
  ),
  row(
    'M3',
    'parameters that the server wants in headers',
    newest('wants in a header what its list did not say'),
    official('http-custom-headers'),
  ),
  row('M4', 'a tool with a wrong header costs only itself', official('http-invalid-tool-headers')),
  row(
    'M5',
    'a header that the list did not tell of: listed again, and sent again',
    newest('wants in a header what its list did not say'),
  ),
  row('M6', 'a cancel closes the stream', hosting('notices a cancelled call by its stream')),
  row(
    'M7',
    'a broken answer is lost at once, and not asked for again',
    newest('breaks an answer off in the newest protocol'),
    http("does: 'breaks an answer off'"),
  ),
  row('M8', 'comments in a stream are ignored', newest('breaks an answer off in the newest protocol')),
  row('M9', 'nothing of the older sessions', newest('hands out a session all the same')),

  // SSE
  row(
    'E1',
    'a server that only speaks SSE is met so, unless it answers in JSON-RPC',
    sse('speaks only SSE behind an HTTP entry'),
    http('says in JSON-RPC that nothing is there'),
    sse('opens a stream of SSE and never says where to post'),
  ),
  row('E2', 'an address of another origin is refused', sse('names an address of somebody else')),
  excused(
    'E3',
    'the oldest transport is not for new servers',
    'entries with `type: "sse"` are part of what clients are promised',
    sse('speaks SSE as announced'),
  ),
  row(
    'E4',
    '401 and 5xx are no old server',
    http('is overloaded when it is met'),
    http('is overloaded once'),
    http('answers with a page for people'),
  ),
]
