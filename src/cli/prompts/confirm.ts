/**
 * A yes-or-no question of a command at a terminal; Enter alone means no.
 *
 * The questions of a chat and of a turn (permission-prompt, form, choosing) do not use this library: they arrive while text
 * streams above them, another client may answer them first, and keys that a user typed before reading must not count. A prompt
 * of the library owns the screen and the keyboard while it is open.
 */

/** False too when the user presses Esc or closes the input. Ctrl-C stops the command, as it does anywhere else. */
export async function confirm(question: string): Promise<boolean> {
  // Loaded here, because most commands never ask.
  const { confirm: ask } = await import('@clack/prompts')
  const closed = new AbortController()
  const close = (): void => closed.abort()
  let isInterrupted = false
  const watch = (_text: string, key: { readonly name?: string; readonly ctrl?: boolean } | undefined): void => {
    if (key?.ctrl === true && key.name === 'c') isInterrupted = true
  }
  process.stdin.once('end', close).on('keypress', watch)
  try {
    const answer = await ask({ message: question, initialValue: false, output: process.stderr, signal: closed.signal })
    if (isInterrupted) process.emit('SIGINT', 'SIGINT')
    return answer === true
  } finally {
    process.stdin.off('end', close).off('keypress', watch)
    process.stdin.pause()
  }
}
