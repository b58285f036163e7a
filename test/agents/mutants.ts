/** Each mechanism of the mapping taken out, with the case that misses it: `npm run kill -- agents`. */
import { type Mutant, mutant } from '../mutants/mutant.ts'

const EXTERNAL = 'src/adapters/agent/external'
const PLAIN = 'test/agents/plain-turns.test.ts'
const PERMISSIONS = 'test/agents/permissions.test.ts'
const REOPENING = 'test/agents/reopening.test.ts'
const SETTINGS = 'test/agents/settings.test.ts'
const SUPERVISION = 'test/agents/supervision.test.ts'
const LIMITS = 'test/agents/limits.test.ts'
const LOGIN = 'test/agents/login-and-version.test.ts'
const FALLBACKS = 'test/agents/fallbacks.test.ts'
const COPIES = 'test/agents/own-copies.test.ts'

export const agentMutants: readonly Mutant[] = [
  mutant('updates: what comes after the response belongs to the turn that has ended', {
    at: [`${EXTERNAL}/turn/agent-turns.ts`, 'AgentTurns.spoken'],
    find: 'this.#isLate(said)',
    put: 'false',
    test: [PLAIN, 'words that come after the response belong to the turn that has ended [3]'],
  }),
  mutant('updates: an unknown one that is far too large is kept by its kind', {
    at: [`${EXTERNAL}/updates/read-update.ts`, 'boundedForeign'],
    find: 'text.length <= MAX_FOREIGN_CHARS',
    put: 'true',
    test: [PLAIN, 'an unknown update is kept at its place, one that is far too large only by its kind [12]'],
  }),
  mutant('updates: a refusal is noted, for the end of the turn', {
    at: [`${EXTERNAL}/requests/permission.ts`, 'requestPermission'],
    find: 'if (isRefusal(outcome)) refused()',
    test: [PLAIN, 'a turn that ends as %s after a refusal says that this is why [25]'],
  }),
  mutant('updates: the output of a terminal is bounded', {
    at: [`${EXTERNAL}/updates/terminal-output.ts`, 'TerminalOutputs.#apply'],
    find: 'output.slice(-MAX_OUTPUT_CHARS)',
    put: 'output',
    test: [PLAIN, "the output of an agent's own terminal is one bounded text, seen while it grows [15]"],
  }),
  mutant('updates: a growing output is shown at twice its length, not at each piece', {
    at: [`${EXTERNAL}/updates/terminal-output.ts`, 'TerminalOutputs.apply'],
    find: 'if (!isDue) return kept',
    test: [PLAIN, "the output of an agent's own terminal is one bounded text, seen while it grows [15]"],
  }),
  mutant('turn: what an agent did not know is sent once', {
    at: [`${EXTERNAL}/turn/send-prompt.ts`, 'OpenPrompt.#answered'],
    find: "conversation.preamble = ''",
    test: [
      REOPENING,
      'an agent that cannot reopen anything gets the transcript with the next prompt, and a notice says so [4] [40] [41]',
    ],
  }),
  mutant('turn: a process that is being ended is asked nothing more', {
    at: [`${EXTERNAL}/process/agent-process.ts`, 'AgentProcess.isEnding'],
    find: 'this.#isGone || !this.#isWanted',
    put: 'this.#isGone',
    test: [LOGIN, 'a process that is being ended for a login gets no other prompt, however long it takes to end'],
  }),
  mutant('turn: it is said that a refusal has ended it', {
    at: [`${EXTERNAL}/turn/send-prompt.ts`, 'OpenPrompt.#ended'],
    find: 'updates.isRefusedSilently',
    put: 'false',
    test: [PLAIN, 'a turn that ends as %s after a refusal says that this is why [25]'],
  }),
  mutant('turn: a cancelled prompt that is not answered holds the next one', {
    at: [`${EXTERNAL}/turn/agent-turns.ts`, 'AgentTurns.held'],
    find: 'prompt === undefined || prompt.isOver',
    put: 'true',
    test: [
      SUPERVISION,
      'an agent that ignores a cancel holds the next prompt until it is killed; another session goes on [23]',
    ],
  }),
  mutant('turn: an agent that ignores a cancel is killed', {
    at: [`${EXTERNAL}/turn/send-prompt.ts`, 'OpenPrompt.#kill'],
    find: "await process.stop('kill')",
    test: [
      SUPERVISION,
      'an agent that ignores a cancel holds the next prompt until it is killed; another session goes on [23]',
    ],
  }),
  mutant('turn: a process that does not live any more is not told of a second prompt', {
    at: [`${EXTERNAL}/turn/send-prompt.ts`, 'OpenPrompt.#gone'],
    find: "fail('AGENT_GONE', { agent: name, reason })",
    put: "'end_turn' as never",
    test: [
      REOPENING,
      'a prompt that was written and never read is not sent again: whether the agent read it cannot be known [26]',
    ],
  }),
  mutant('turn: an agent whose user is asked is not silent', {
    at: [`${EXTERNAL}/turn/quiet-watch.ts`, 'QuietWatch.#look'],
    find: 'process.peer.heard !== this.#heard || isAsking',
    put: 'process.peer.heard !== this.#heard',
    test: [LIMITS, 'an agent that waits for its user is not silent, however long that takes'],
  }),
  mutant('requests: two options of one id are refused', {
    at: [`${EXTERNAL}/requests/permission.ts`, 'optionsIn'],
    find: 'new Set($ids).size < options.length',
    put: 'false',
    test: [PERMISSIONS, 'two options of one id are an error of the agent, and no user is asked [16]'],
  }),
  mutant('requests: an unknown kind is shown as it is', {
    at: [`${EXTERNAL}/requests/permission.ts`, 'optionsIn'],
    find: "textOf(kind) ?? 'unknown'",
    put: "'allow_once'",
    test: [PERMISSIONS, 'all options are shown in their order, also one of an unknown kind [16]'],
  }),
  mutant('requests: a question that cannot be asked is cancelled, not left open', {
    at: [`${EXTERNAL}/requests/elicitation.ts`, 'unanswerable'],
    find: 'return CANCEL',
    put: 'return { action: "decline" }',
    test: [PERMISSIONS, 'a form that no client can show is cancelled, and a notice says so [21]'],
  }),
  mutant('requests: a method that Parley does not have is refused at once', {
    at: [`${EXTERNAL}/process/peer.ts`, 'AgentPeer.#requested'],
    find: 'answer === undefined',
    put: 'false',
    test: [PERMISSIONS, 'requests that Parley never offered are refused at once, and the turn goes on [6]'],
  }),
  mutant('settings: those of a session are set again after a restart', {
    at: [`${EXTERNAL}/settings/live-settings.ts`, 'LiveSettings.#settle'],
    find: 'before ?? $preset',
    put: '$preset',
    test: [
      SETTINGS,
      'what was set before a restart, and while the agent did not run, is set again before the next prompt [9]',
    ],
  }),
  mutant('settings: those that a reopened agent does not repeat are kept', {
    at: [`${EXTERNAL}/settings/settings.ts`, 'AgentSettings.reopened'],
    find: "if (hasModes) this.#modes = modesIn(said['modes'])",
    put: "this.#modes = modesIn(said['modes'])",
    test: [
      SETTINGS,
      'an agent that says nothing of its settings when it is reopened still has them, and gets the values again [9]',
    ],
  }),
  mutant('settings: the first prompt waits for them', {
    at: [`${EXTERNAL}/settings/live-settings.ts`, 'LiveSettings.pushed'],
    find: 'this.#settling !== undefined',
    put: 'false',
    test: [SETTINGS, 'the first prompt of a new session comes after the settings that it begins with [9]'],
  }),
  mutant('settings: the answer has the whole list, also of options that nobody has set', {
    at: [`${EXTERNAL}/settings/settings.ts`, 'AgentSettings.setConfigOption'],
    find: "Array.isArray(answer['configOptions'])",
    put: 'false',
    test: [SETTINGS, 'an option changes another; what the agent refuses keeps its old value and says why [8]'],
  }),
  mutant('reattach: a replay is swallowed', {
    at: [`${EXTERNAL}/reattach/open-conversation.ts`, 'Opening.#swallowing'],
    find: 'swallow(replay)',
    test: [REOPENING, 'a replay that comes %s the response is swallowed, and nothing is doubled [31] [32]'],
  }),
  mutant('reattach: a replay that goes on after the response is waited for', {
    at: [`${EXTERNAL}/reattach/open-conversation.ts`, 'Opening.#swallowing'],
    find: 'await untilReplayed(...$all)',
    test: [REOPENING, 'a replay that comes %s the response is swallowed, and nothing is doubled [31] [32]'],
  }),
  mutant('reattach: a replay without anything is no memory', {
    at: [`${EXTERNAL}/reattach/open-conversation.ts`, 'Opening.#load'],
    find: 'compared.isEmpty',
    put: 'false',
    test: [REOPENING, 'an empty replay is no memory: the agent gets the transcript [33]'],
  }),
  mutant('reattach: a login that is missing is no reason to begin anew', {
    at: [`${EXTERNAL}/process/introduction.ts`, 'requireLogin'],
    find: 'error.code !== LOGIN_NEEDED',
    put: 'true',
    test: [
      LOGIN,
      'an agent that wants a login says what to type; the session is kept, and goes on after the login [42]',
    ],
  }),
  mutant('reattach: of two turns with one prompt, the ids of the messages say which is which', {
    at: [`${EXTERNAL}/reattach/compare.ts`, 'compare'],
    find: 'hasIds && hasOtherMessages(one, turn)',
    put: 'false',
    test: [
      'test/agents/outside-turns.test.ts',
      'a turn outside with the same prompt and the same beginning is another turn, where messages keep their ids [36]',
    ],
  }),
  mutant('start: a login that must be named in each process is named', {
    at: [`${EXTERNAL}/supervision/starter.ts`, 'AgentStarter.#attempt'],
    find: 'await useLogin(...$all)',
    test: [
      LOGIN,
      'a login that must be named in each process is named before the conversation, if the agent offers it',
    ],
  }),
  mutant('start: that an agent never asks is said', {
    at: [`${EXTERNAL}/reattach/open-conversation.ts`, 'Opening.#tellFreedom'],
    find: "quirks.asks !== 'never' || this.#hasMet",
    put: 'true',
    test: [PERMISSIONS, 'that an agent never asks is said once, where its session begins'],
  }),
  mutant('reattach: what the agent is told fits the window of its model', {
    at: [`${EXTERNAL}/reattach/reseed.ts`, 'budgetFor'],
    find: 'windowTokens === undefined || windowTokens <= 0',
    put: 'true',
    test: [
      REOPENING,
      'the transcript that an agent gets fits the window of its model, if the agent has named that [40]',
    ],
  }),
  mutant('reattach: turns that were made outside are taken in once', {
    at: [`${EXTERNAL}/reattach/conversation.ts`, 'takeInOutside'],
    find: 'conversation.outside = []',
    test: [LIMITS, 'a warm agent is there when its stored session is opened, and knows turns that were made outside'],
  }),
  mutant('supervision: a warm agent takes the place of no other', {
    at: [`${EXTERNAL}/agent.ts`, 'ExternalAgent.warmUp'],
    find: 'this.#parts.live.hasRoom',
    put: 'true',
    test: [
      LIMITS,
      'a warm agent takes the place of no other, and what keeps it from starting is said with the first prompt',
    ],
  }),
  mutant('own copies: what a fork has copied stays with its source', {
    at: ['src/session/lifecycle/conversations.ts', 'conversationsToForget'],
    find: 'agentSessionsIn(journal, sessionId, copied)',
    put: 'agentSessionsIn(journal, sessionId, 0)',
    test: [COPIES, 'a fork %s has a conversation of its own, told what it has, and is deleted alone [51]'],
  }),
  mutant('own copies: an agent copies no conversation that has gone on since the fork', {
    at: ['src/session/lifecycle/conversations.ts', 'forkedConversation'],
    find: 'await wentOn(journal, from)',
    put: 'false',
    test: [COPIES, 'a fork %s is a new conversation that gets the transcript of the fork [51]'],
  }),
  mutant('own copies: an agent copies no conversation for a fork that has had turns', {
    at: ['src/session/lifecycle/conversations.ts', 'forkedConversation'],
    find: 'await hasTurns(journal, id, fork.seq)',
    put: 'false',
    test: [FALLBACKS, 'a fork that has had turns is no copy of its source: its agent gets what was said in both [51]'],
  }),
  mutant('reopening: a system prompt is given again each time', {
    at: [`${EXTERNAL}/reattach/priming.ts`, 'Priming.#renderedFor'],
    find: 'primedBytes === undefined',
    put: 'true',
    test: [
      REOPENING,
      'what it does not know goes into the system prompt, where an agent takes one, each time anew [41]',
    ],
  }),
]
