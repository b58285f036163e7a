/** A question of a command at a terminal to which several answers can be chosen. It uses the library of `confirm.ts`, for the same reasons. */

export interface AnswerOption {
  readonly value: string
  readonly label: string
}

/** The values of those that were marked; none when the user presses Esc or Ctrl-C. */
export async function choose(question: string, answers: readonly AnswerOption[]): Promise<readonly string[]> {
  // Loaded here, because most commands never ask.
  const { multiselect, isCancel } = await import('@clack/prompts')
  try {
    const options = answers.map((one) => ({ ...one }))
    const chosen = await multiselect({
      message: question,
      options,
      required: false,
      output: process.stderr,
      maxItems: 15,
    })
    return isCancel(chosen) ? [] : chosen
  } finally {
    process.stdin.pause()
  }
}
