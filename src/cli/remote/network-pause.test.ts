import { expect, test } from 'vitest'
import { type MachineFacts, networkPause } from './network-pause.ts'

/** A machine whose clock moves by its pauses only. `at` runs once that many milliseconds have passed. */
class Machine implements MachineFacts {
  passed = 0
  asleep = 0
  network = '10.0.0.7/24'
  readonly #at: Readonly<Record<number, (machine: Machine) => void>>

  constructor(at: Readonly<Record<number, (machine: Machine) => void>> = {}) {
    this.#at = at
  }

  addresses(): string {
    return this.network
  }

  now(): number {
    return this.passed + this.asleep
  }

  async pause(ms: number): Promise<void> {
    this.passed += ms
    this.#at[this.passed]?.(this)
  }
}

async function pausedFor(ms: number, machine: Machine): Promise<number> {
  await networkPause(ms, '10.0.0.7/24', machine)
  return machine.passed
}

const elsewhere = (machine: Machine) => (machine.network = '192.168.1.5/24')

test.each([250, 30_000, 0])(
  'remote: the pause before the next attempt is as long as it should be: %i ms',
  async (ms) => {
    expect(await pausedFor(ms, new Machine())).toBe(ms)
  },
)

test('remote: a new network ends the pause, and one that came during the failed attempt shortens it too', async () => {
  expect(await pausedFor(30_000, new Machine({ 2_000: elsewhere }))).toBe(2_000)
  const machine = new Machine()
  elsewhere(machine)
  expect(await pausedFor(30_000, machine)).toBe(500)
})

test('remote: a machine that wakes up tries at once', async () => {
  const sleeps = { 1_500: (machine: Machine) => (machine.asleep = 3_600_000) }
  expect(await pausedFor(30_000, new Machine(sleeps))).toBe(1_500)
})
