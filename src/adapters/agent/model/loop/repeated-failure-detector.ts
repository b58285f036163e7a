/** A model that makes the same failing call again and again is told so. One per turn. */
import type { ModelToolCall } from '../../../../ports/model.ts'
import type { ToolResult } from '../../../../ports/tools.ts'

const TOO_OFTEN = 3

export class RepeatedFailureDetector {
  readonly #times = new Map<string, number>()

  judged(call: ModelToolCall, result: ToolResult): ToolResult {
    if (!result.isError) {
      this.#times.delete(keyOf(call))
      return result
    }
    const warning = this.#count(call)
    return warning === undefined ? result : { ...result, content: [...result.content, { type: 'text', text: warning }] }
  }

  /** The sentence that says why a call failed, with a warning if it has failed so before. */
  remark(call: ModelToolCall, why: string): string {
    return [why, this.#count(call) ?? []].flat().join('\n')
  }

  #count(call: ModelToolCall): string | undefined {
    const times = (this.#times.get(keyOf(call)) ?? 0) + 1
    this.#times.set(keyOf(call), times)
    return times < TOO_OFTEN
      ? undefined
      : `This very call has failed ${times} times in this turn. Do not repeat it: try another way, or say what is in the way.`
  }
}

function keyOf({ name, args, malformed }: ModelToolCall): string {
  return JSON.stringify([name, args, malformed])
}
