/** Given what is true, when this is asked, then that becomes true: how tests speak of the core. */
/* oxlint-disable unicorn/no-thenable -- nobody awaits a story that lacks its end. */
import { expect } from 'vitest'
import { isParleyError, type ParleyError } from '../../src/errors/parley-error.ts'
import type { ErrorCode } from '../../src/errors/catalogue.ts'
import type { Command } from '../../src/session/domain/commands.ts'
import { decide } from '../../src/session/domain/decide.ts'
import { type Body, encodeBody } from '../../src/session/domain/entries.ts'
import { evolve } from '../../src/session/domain/evolve.ts'
import { type Existing, type State, absent, encodeState, rowOf } from '../../src/session/domain/state.ts'
import { Disk } from './disk.ts'

export type Happened = { readonly bodies: readonly Body[] } | { readonly refused: unknown }

/** The state that these facts make, from an empty journal. */
export function stateAfter(...bodies: readonly Body[]): State {
  return bodies.reduce(evolveNext, absent('s-1') as State)
}

/** A disk on which another server has left the session of these facts. */
export async function diskAfter(...bodies: readonly Body[]): Promise<Disk> {
  const disk = new Disk()
  await store(disk, 's-1', bodies)
  return disk
}

export async function store(disk: Disk, id: string, bodies: readonly Body[]): Promise<void> {
  const state = { ...stateAfter(...bodies), id } as Existing
  const entries = bodies.map((body, n) => ({ seq: n + 1, at: (n + 1) * 1000, body: encodeBody(body) }))
  const snapshot = { seq: state.seq, state: encodeState(state) }
  await disk.append({ row: rowOf(state), entries, expected: 0, snapshot })
}

export function given(...bodies: readonly Body[]) {
  const state = stateAfter(...bodies)
  return { state, when: (...commands: readonly Command[]) => after(state, commands) }
}

function after(before: State, commands: readonly Command[]) {
  const { state, happened } = all(before, commands)
  return {
    state,
    happened,
    then: (...bodies: readonly Body[]): void => expect(happened).toEqual({ bodies }),
    thenNothing: (): void => expect(happened).toEqual({ bodies: [] }),
    thenRefused: (code: ErrorCode): void => expect(refusal(happened)?.code).toBe(code),
  }
}

/** The named error of a refusal; anything else that was thrown is a bug and thrown again. */
export function refusal(happened: Happened): ParleyError | undefined {
  if (!('refused' in happened)) return undefined
  if (isParleyError(happened.refused)) return happened.refused
  throw happened.refused
}

function all(before: State, commands: readonly Command[]): { state: State; happened: Happened } {
  let state = before
  const bodies: Body[] = []
  try {
    for (const command of commands) {
      const decided = decide(command, state)
      bodies.push(...decided)
      state = decided.reduce(evolveNext, state)
    }
    return { state, happened: { bodies } }
  } catch (refused) {
    return { state, happened: { refused } }
  }
}

function evolveNext(state: State, body: Body): State {
  const seq = state.seq + 1
  return evolve(state, { ...body, seq, at: seq * 1000 })
}
