/** How commands about agents ask before they do what cannot be undone, and show their progress. */
import type { InstallProgress, Tell } from '../../../server/compose/agent-catalogue.ts'
import { confirm } from '../../prompts/confirm.ts'
import { FAILED } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export class Agreement {
  readonly #isGiven: boolean
  #couldAsk = true

  /** `isGiven`: by `--yes`. */
  constructor(isGiven: boolean) {
    this.#isGiven = isGiven
  }

  /** Without a terminal no user can be asked, so the answer is no. */
  async to(question: string): Promise<boolean> {
    if (this.#isGiven) return true
    this.#couldAsk = process.stdin.isTTY && process.stderr.isTTY
    if (this.#couldAsk) return confirm(question)
    // Who adds `--yes` next has read what it agrees to.
    complain(question)
    return false
  }

  refused(): number {
    complain(
      this.#couldAsk
        ? 'nothing was added'
        : 'nothing was added, because there is no terminal to ask at; add --yes to agree',
    )
    return FAILED
  }
}

export interface ShownProgress {
  readonly tell: Tell
  done(): void
}

export function progressFor(isJson: boolean): ShownProgress {
  if (isJson) return { tell: (progress) => printJson({ progress }), done: () => undefined }
  const line = progressLine(process.stderr)
  return { tell: (progress) => line.say(oneLine(progressText(progress), 200)), done: () => line.done() }
}

const MEGABYTE = 1024 * 1024

function progressText(progress: InstallProgress): string {
  switch (progress.step) {
    case 'resolve':
      return `Looking for ${progress.what} …`
    case 'download': {
      const total = progress.total === undefined ? '' : ` of ${megabytes(progress.total)}`
      return `Downloading: ${megabytes(progress.bytes)}${total}`
    }
    case 'npm':
    case 'uv': {
      const size = progress.megabytes === undefined ? '' : `, about ${progress.megabytes} MB`
      return `${progress.step} installs ${progress.what}${size} …`
    }
    case 'unpack':
      return 'Unpacking …'
    case 'probe':
      return 'Asking what it can do …'
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`
}
