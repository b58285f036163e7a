/** Rows of what servers have: tools, calls, resources, prompts, and what they ask of people. */
import { calls, excused, http, lists, newest, official, row, stdio, within, type Row } from './row.ts'

const asking = within('src/edge/acp/v1/client-peer/server-elicitation.test.ts')
const eliciting = within('test/e2e/mcp-elicitation.test.ts')
const prompts = within('test/e2e/mcp-prompts.test.ts')
const reading = within('test/e2e/mcp-read.test.ts')
const loop = within('src/adapters/agent/model/loop/loop.test.ts')
const pages = within('src/cli/prompts/visit-page.test.ts')
const calling = within('src/session/tool-call/call-tool.test.ts')
const verdicts = within('src/session/permission/policy.test.ts')
const patience = within('src/adapters/tool-registry/stdio.test.ts')

export const featureRows: readonly Row[] = [
  // Lists
  row(
    'T1',
    'all pages, also behind an empty cursor, and an end to lists without one',
    lists('pages by empty cursors'),
    lists('pages without end'),
  ),
  row(
    'T2',
    'a change is listed at once, a storm seldom, the last word always',
    lists('changes in a storm'),
    lists('changes for four seconds'),
    lists('says after each list that it changed'),
    lists('changes while it is first listed'),
    lists('fails to list again'),
  ),
  row(
    'T3',
    'the newest protocol tells those who listen',
    stdio('speaks only the newest protocol'),
    stdio('has everything in the newest protocol'),
  ),
  row(
    'T4',
    'a list holds as long as the server says, for whom it says, and is not polled',
    lists('changes without a word'),
    lists('says that its list holds for an hour'),
    newest('lets everything be kept for an hour'),
  ),
  row('T5', 'whoever wants it anew gets it anew', newest('lets everything be kept for an hour')),
  row(
    'T6',
    'what a stranger says of its tools is not believed',
    verdicts('a stranger is always asked about or refused'),
    calling('that only reads is not tried a third time'),
  ),
  row(
    'T7',
    'names collide with none',
    lists("row: 'T7'"),
    lists('has one name twice'),
    within('src/adapters/tool-registry/names.test.ts')('is legal, at most 64 long and never shared by two tools'),
  ),
  row('T8', 'names of every shape become ones that models know, and are called by their own', lists("row: 'T7 T8'")),
  row('T9', 'a malformed tool costs only itself', lists('has malformed tools among good ones')),
  row(
    'T10',
    'the order is the same, and changes at a step',
    loop('tells the model of each step exactly the tools of that moment'),
  ),
  excused(
    'T11',
    'many tools are told bit by bit',
    'no must and no should; include and exclude lists keep a list short',
    lists("row: 'P (include, exclude)'"),
  ),
  row(
    'T12',
    'people see tools and calls and can say no',
    within('test/e2e/permission.test.ts')('plan mode refuses what may change something'),
    calling('is stored as in progress before the tool is called'),
  ),

  // Calls
  row(
    'C1',
    'content of every type, also unknown',
    calls('answers with every kind of content'),
    within('src/adapters/mcp/client/request/content.test.ts')('keeps every type of content that there is'),
  ),
  row('C2', 'a failure is told to the model', calls('fails in words'), calls('refuses in the protocol')),
  row('C3', 'a result that breaks its promise is kept', calls('does not keep the promise of its output')),
  row('C4', 'structured content of any type', calls('answers with structured content alone')),
  row('C5', 'structured content alone becomes text', calls('answers with structured content alone')),
  row(
    'C6',
    'inputs are shown, calls have limits and stand in the journal',
    calling('is asked about once when the answer is always'),
    calls('never answers a call'),
  ),
  row(
    'C7',
    'results are bounded, and kept whole beside the context',
    calls('answers with fifty megabytes'),
    http('answers with a stream of one endless event'),
    within('test/model/long-result.test.ts')('a model reads the whole of a long result'),
  ),
  row(
    'C8',
    'what a result links to is read from the same server',
    lists('has resources and prompts'),
    reading('what no list has is asked about first'),
  ),
  row('C9', 'nothing is kept in a connection', http('forgets its sessions while ten calls come')),

  // Schemas
  row(
    'J1',
    'every dialect of JSON Schema',
    within('src/adapters/checking/schemas.test.ts')('pass a schema that cannot be understood'),
    official('json-schema-2020-12-preservation'),
  ),
  row(
    'J2',
    'no reference is fetched',
    calls('promises output in a schema that is broken'),
    official('json-schema-ref-no-deref'),
  ),
  row(
    'J3',
    'schemas are bounded',
    lists('has malformed tools among good ones'),
    calls('has a pattern that takes for ever'),
  ),
  row(
    'J4',
    'models get what their providers accept',
    within('src/adapters/mcp/client/lists/model-schema.test.ts')(
      'what stands at the root in pieces becomes one object',
    ),
  ),

  // Progress and cancel
  row('P1', 'progress is told, and not too often', calls('shows progress ten thousand times')),
  row('P2', 'the last progress counts, late progress does not', calls('shows progress ten thousand times')),
  row(
    'P3',
    'a cancel reaches the server at once',
    calls('answers after it was told to stop'),
    patience('that is cancelled is cancelled at the server within a tenth of a second'),
  ),
  row('P4', 'a ping is answered', stdio('asks for what we cannot do')),
  row('P5', 'what we listen to is told apart', lists('tells those who listen of resources')),
  row('P6', 'whoever stops telling is listened to again', stdio('ends its subscription again and again')),

  // Rounds
  row(
    'R1',
    'what a server needs is answered, and the request sent again',
    calls('asks the person in rounds'),
    official('sep-2322-client-request-state'),
  ),
  row(
    'R2',
    'its state goes back as it came',
    calls('asks the person in rounds'),
    official('sep-2322-client-request-state'),
  ),
  row('R3', 'a round without a question is just sent again', official('sep-2322-client-request-state')),
  row('R4', 'a no is told to whoever called', calls("row: 'R4'")),
  row(
    'R5',
    'a question that waits survives a restart',
    calls('asks for more in two rounds'),
    within('test/e2e/mcp-pause.test.ts')('may be two, in two rounds, and a page; each round outlives a kill'),
  ),

  // Resources, prompts, completion
  row(
    'X1',
    'lists only of what is there, all pages',
    lists('pages its resources by empty cursors'),
    stdio("row: 'L1 L2 L4'"),
  ),
  row('X2', 'no address of a resource is fetched', lists('has resources and prompts')),
  row(
    'X3',
    'what was read is watched',
    lists('tells of resources that were read'),
    lists('tells those who listen of resources'),
  ),
  excused(
    'X4',
    'annotations choose the context',
    'no must and no should; they are passed on to clients',
    calls('answers with every kind of content'),
  ),
  row('X5', 'prompts are commands', prompts('they come, change and are filled in')),
  row('X6', 'the text of a prompt is never a system text', lists('has resources and prompts')),
  row(
    'X7',
    'arguments are completed, sparingly',
    prompts('what is typed behind one can be completed'),
    within('src/cli/chat/input/composer.test.ts')('completes the word behind a command'),
  ),

  // What servers ask of us
  excused(
    'U1',
    'roots, sampling and logging are not for new clients',
    'roots for older servers alone; the others are not offered, and a server that has them says so in its status',
    stdio('asks for what we cannot do'),
  ),
  row('U2', 'roots are files, and changes are told', calls('asks where the work is')),
  excused('U3', 'sampling is reviewed by people', 'it is not offered', stdio('asks for what we cannot do')),
  row('U4', 'questions by form and by page', calls("row: 'U4 U5'"), official('elicitation-sep1034-client-defaults')),
  row(
    'U5',
    'people see who asks, and silence is no yes',
    eliciting('with the name of the server'),
    calls("row: 'U5'"),
    asking('gets a cancel when the client disconnects'),
  ),
  row(
    'U6',
    'forms of every type, checked',
    within('src/session/domain/elicitation-form.test.ts')('may ask for texts, numbers, a yes or no, and choices'),
    asking('gets nothing that is not as the form has it'),
  ),
  row(
    'U7',
    'a page is shown whole, and opened when somebody agrees',
    pages('is shown whole with its host'),
    pages('what is odd about an address is said'),
    pages('is not opened'),
    calls("row: 'U7 Z5'"),
    eliciting('a page is put to the sender too'),
  ),
  row('U8', 'pages that a call demands', calls('demands a page to be visited')),
  excused(
    'U9',
    'what servers log is bounded',
    'their logging is not asked for; what a process complains of is bounded',
    stdio('complains without end'),
  ),

  // Tasks
  excused(
    'K1',
    'a tool that is only a task',
    'tasks are told and not spoken',
    lists('has malformed tools among good ones'),
    calls('answers with a task'),
  ),
  excused(
    'K2',
    'results that are tasks',
    'the extension is not declared',
    calls('answers with a task'),
    stdio('answers with results of no known type'),
  ),
  excused('K3', 'tasks survive a restart', 'tasks are not spoken'),
]
