/** What the agents of chaos are like: how each reopens its conversation, and what goes wrong with it by itself. */
import type { Case, Move } from '../../../fake-agent/case.ts'
import type { Chance } from '../../../series/chance.ts'
import type { Tale } from './tale.ts'

/** How it gets its conversation back after a restart. */
export const memories = ['loads', 'loads and resumes', 'resumes', 'neither'] as const

/** What is wrong with it. */
export const failings = ['nothing', 'loses', 'doubles', 'reorders', 'crashes', 'hangs', 'is deaf'] as const

export interface Kind {
  readonly memory: (typeof memories)[number]
  readonly failing: (typeof failings)[number]
  /** Differs between two agents of the same memory and failing. */
  readonly variant: number
  /** Where in the tale it crashes or hangs: an index into its moves. */
  readonly at: number
}

const CAPABILITIES: Readonly<Record<Kind['memory'], object>> = {
  loads: { loadSession: true },
  'loads and resumes': { loadSession: true, sessionCapabilities: { resume: {}, list: {}, close: {} } },
  resumes: { sessionCapabilities: { resume: {} } },
  neither: {},
}

export function kindOf(chance: Chance): Kind {
  return {
    memory: chance.pick(memories),
    failing: chance.pick(failings),
    variant: chance.between(0, 2),
    at: chance.between(0, 40),
  }
}

/** Opened, it holds nobody up. */
export const GATE = 'that nobody opens'
/** So often a crash and a hang happen, over all processes of the agent. */
export const TIMES = { crash: 2, hang: 1 }

const LOSSES: readonly Partial<Case>[] = [
  { keeps: 'prompts' },
  { keeps: 'finished', replay: { changes: ['last turn lost'] } },
  { keeps: 'nothing' },
]

/** It says the whole story for every prompt, unless it fails. */
export function caseOf(kind: Kind, { moves }: Pick<Tale, 'moves'>): Case {
  const capabilities = { ...CAPABILITIES[kind.memory] }
  const at = kind.at % moves.length
  const well: Case = { info: { name: 'fake', version: '1.0.0' }, capabilities, prompts: { '*': moves } }
  const interrupted = (...failing: readonly Move[]): Case => ({
    ...well,
    prompts: { '*': [...moves.slice(0, at), ...failing, ...moves.slice(at)] },
  })
  switch (kind.failing) {
    case 'nothing':
      return well
    case 'loses':
      return Object.assign({}, well, LOSSES[kind.variant])
    case 'doubles':
      return { ...well, replay: { changes: ['doubled'], onResume: kind.variant === 0, when: whenOf(kind) } }
    case 'reorders':
      return { ...well, replay: { changes: ['reversed'], onResume: kind.variant === 0, when: whenOf(kind) } }
    case 'crashes':
      return interrupted({ first: TIMES.crash, name: 'crash', moves: [{ die: kind.variant === 0 ? 3 : 'SIGKILL' }] })
    case 'hangs':
      return interrupted({ first: TIMES.hang, name: 'hang', moves: [{ untilCancel: true }] })
    case 'is deaf':
      return {
        ...interrupted({ first: TIMES.hang, name: 'hang', moves: [{ gate: GATE }] }),
        on: { 'session/cancel': [] },
        ignores: kind.variant === 0 ? ['eof', 'SIGTERM'] : [],
      }
  }
}

function whenOf({ variant }: Kind): 'before' | 'after' | 'split' {
  return (['before', 'after', 'split'] as const)[variant as 0 | 1 | 2]
}
