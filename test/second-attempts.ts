/** Names the tests that passed only at their second attempt: a busy machine may cost a few, and no more. */
import type { Reporter, TestCase } from 'vitest/node'

/** With more of them something is wrong with the tests, or with what they hold. */
const TOLERATED = 3

class SecondAttempts implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.#names.length === 0) return
    console.log(`\n${this.#names.length} passed only at the second attempt:\n  ${this.#names.join('\n  ')}`)
    if (this.#names.length <= TOLERATED) return
    console.log(`That is more than the ${TOLERATED} that are tolerated.`)
    process.exitCode = 1
  }
}

// Vitest knows a reporter by no other name.
export { SecondAttempts as default }
