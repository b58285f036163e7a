/** What was found out about single agents: rows of data, each for a range of versions, with its proof. */
import type { Quirks } from '../quirks.ts'

export interface QuirkRow {
  /** The agent's `agentInfo.name`; its id in the start table where that name is not known. */
  readonly agent: string
  /** The first version that it holds for; absent, all earlier ones. */
  readonly from?: string
  /** The last version that was tried: beyond it the row still applies, marked as not verified. Absent, none was. */
  readonly to?: string
  readonly fields: Partial<Quirks>
  /** What people should know, one short sentence each. */
  readonly notes: readonly string[]
  /** `measured` with Parley's own tests, or `reported` by its users. */
  readonly proof: 'measured' | 'reported'
  /** The month. */
  readonly date: string
}

const CLAUDE = '@agentclientprotocol/claude-agent-acp'
const CODEX = '@agentclientprotocol/codex-acp'

export const quirkRows: readonly QuirkRow[] = [
  {
    agent: CLAUDE,
    from: '0.30.0',
    to: '0.101.0',
    fields: {
      notFound: [{ code: -32603, text: 'uuid' }],
      // The claude below it has died; from then on its sessions are not found.
      reloadAfter: [{ code: -32603 }],
      replayAfterResponseMs: 0,
      pseudoUser: ['[Request interrupted by user'],
      stableIds: true,
      textNoise: ['**Warning:**'],
      turnSignals: ['claude_origin'],
      cutKeeps: 'prompt',
      asks: 'some',
    },
    notes: [
      'loads and resumes its sessions, with everything in them',
      'may go on working by itself after a turn, for background tasks',
      'starts in its mode auto, in which it runs and edits without asking; mode = "default" makes it ask',
      'does not start for root, unless IS_SANDBOX=1 in its environment says that this is a container',
    ],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: CLAUDE,
    to: '0.29.9',
    fields: { stableIds: false, stopWith: 'term', pseudoUser: ['[Request interrupted by user'] },
    notes: ['old: install a newer one'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: CODEX,
    from: '1.7.0',
    to: '2.6.0',
    fields: {
      stopWith: 'term',
      // Meanwhile nothing else can open the session.
      idleMinutes: 2,
      notFound: [{ text: 'no rollout found' }],
      busy: [{ code: -32600, text: 'thread_active_writer' }],
      replayAfterResponseMs: 0,
      stableIds: true,
      textNoise: ['**Warning:**'],
      errorAsText: ['exceeded retry limit', 'unexpected status', 'stream disconnected'],
      turnSignals: ['codex_thread_status'],
      cutKeeps: 'prompt',
      asks: 'some',
    },
    notes: [
      'loads and resumes its sessions, with everything in them',
      'starts in its mode Auto review, in which a model answers for you; mode = "workspace-write" makes it ask you',
      'a refused permission ends its turn',
      'locks its session: its own tool cannot open it until Parley releases it',
    ],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: CODEX,
    to: '1.6.9',
    fields: { stopWith: 'term', replayLoses: ['tool_calls'], asks: 'some' },
    notes: ['old: what it reopens has no tool calls'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'codex-acp',
    to: '0.16.0',
    fields: {
      stopWith: 'term',
      replayAfterResponseMs: 0,
      stableIds: false,
      replayLoses: ['tool_kinds', 'boundaries'],
      cutKeeps: 'prompt',
      asks: 'some',
    },
    notes: ['the older adapter for Codex: parley agents add codex installs the newer one'],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: 'gemini-cli',
    to: '0.61.0',
    fields: {
      stopWith: 'kill',
      notFound: [{ text: 'invalid session identifier' }],
      replayAfterResponseMs: 250,
      replayLoses: ['tool_outputs', 'order'],
      pseudoUser: ['<session_context>', '[Function Response:'],
      textNoise: ['[MODE_UPDATE]'],
      modelVerb: 'none',
      cutKeeps: 'prompt',
      asks: 'some',
    },
    notes: [
      'loads its sessions; the outputs of tools are missing in what it reopens',
      'cannot list its sessions: use `parley import --from gemini` instead of `parley agents import`',
      'runs some shell commands without asking',
      'may lose a session that is reopened within a minute of its beginning; Parley then tells it what was said',
    ],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: 'OpenCode',
    from: '1.16.0',
    to: '1.18.33',
    fields: {
      notFound: [{ code: -32603, text: 'session' }],
      replayAfterResponseMs: 0,
      stableIds: true,
      emptyEndIsError: true,
      cutKeeps: 'prompt',
      asks: 'some',
      keepTitle: true,
    },
    notes: [
      'loads and resumes its sessions, with everything in them, in one to six seconds',
      'a refused permission ends its turn',
    ],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: 'OpenCode',
    to: '1.15.99',
    fields: { lateMs: 300, useResume: false, emptyEndIsError: true, asks: 'some' },
    notes: ['old: a cancel does nothing, and what it reopens may be incomplete'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'pi-acp',
    to: '0.0.34',
    fields: {
      notFound: [{ code: -32602, text: 'unknown sessionid' }],
      replayAfterResponseMs: 0,
      replayLoses: ['thoughts', 'diffs'],
      textNoise: ['Retrying (attempt '],
      emptyEndIsError: true,
      turnSignals: ['pi_running'],
      modelVerb: 'none',
      modesAre: 'thought_level',
      keepTitle: true,
      cutKeeps: 'prompt',
      asks: 'never',
      mcp: 'none',
    },
    notes: [
      'never asks before it changes something',
      'has no MCP servers',
      'loads its sessions; thoughts and differences of files are missing in what it reopens',
      'its modes set how much it thinks',
    ],
    proof: 'measured',
    date: '2026-11',
  },
  {
    agent: 'qwen',
    to: '0.24.4',
    fields: {
      reloadAfter: [{ text: 'transcript' }],
      replayAfterResponseMs: 500,
      asks: 'some',
    },
    notes: ['reopens its sessions'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'copilot',
    to: '1.0.102',
    fields: { busy: [{ text: 'already loaded' }], mcp: 'none', asks: 'never', cutKeeps: 'nothing' },
    notes: ['does not ask before it changes something', 'has no MCP servers', 'may lose parts of a long answer'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'cline',
    to: '3.0.65',
    fields: {
      stopWith: 'kill',
      useResume: false,
      emptyEndIsError: true,
      mcp: 'none',
      cutKeeps: 'nothing',
    },
    notes: [
      'forgets all of a turn that is interrupted',
      'has no MCP servers',
      'processes that it leaves running end with it',
    ],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'kilo',
    to: '7.7.7',
    fields: {
      notFound: [{ code: -32603, text: 'session' }],
      replayAfterResponseMs: 0,
      emptyEndIsError: true,
      asks: 'some',
      cutKeeps: 'prompt',
    },
    notes: ['behaves like OpenCode, and takes four seconds to start'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'cursor',
    fields: { notFound: [{ text: 'not found' }], blockingRequests: ['cursor/ask_question', 'cursor/create_plan'] },
    notes: ['its questions to you become questions of Parley'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'goose',
    to: '1.46.0',
    // Its copy is empty.
    fields: { useFork: false },
    notes: ['its own copy of a session is empty, so Parley sends a fork the transcript'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'qoder',
    fields: { replayAfterResponseMs: 1000 },
    notes: ['keeps sending for a second after it has reopened a session'],
    proof: 'reported',
    date: '2026-11',
  },
  {
    agent: 'grok',
    fields: { authBefore: 'cached_token' },
    notes: ['must be told to use its login each time it starts'],
    proof: 'reported',
    date: '2026-11',
  },
]
