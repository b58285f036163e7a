/** A question that only y answers with yes. */
import { createInterface } from 'node:readline/promises'

/** Asked on the terminal; whoever leaves has not said yes. */
export async function confirm(question: string): Promise<boolean> {
  const line = createInterface({ input: process.stdin, output: process.stderr })
  line.on('SIGINT', () => {
    line.close()
    process.stderr.write('\n')
    // Whoever watches over the command is told as by any other Ctrl-C.
    process.emit('SIGINT', 'SIGINT')
  })
  const left = new Promise<string>((resolve) => line.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([line.question(`${question} [y/N] `), left])
    return /^y(?:es)?$/iu.test(answer.trim())
  } finally {
    line.close()
  }
}
