/** The outputs of this process: terminals redraw and have colour, files and pipes get plain text. */
import { fstatSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'
import { type Paint, paintFor } from './terminal/colors.ts'
import { TerminalScreen, plainScreen } from './terminal/screen.ts'
import type { Surfaces } from './view/view.ts'

/** A terminal that can only print is as good as a file. */
export function isTerminal(stream: { readonly isTTY?: boolean }, { environment }: Config): boolean {
  return stream.isTTY === true && environment['TERM'] !== 'dumb'
}

export function paintOn(stream: { readonly isTTY?: boolean }, config: Config): Paint {
  return paintFor(isTerminal(stream, config) && !config.environment['NO_COLOR'])
}

/** On a terminal all is in one place; otherwise stdout has the answer and nothing else, and stderr what happens meanwhile. */
export function surfacesFor(config: Config): Surfaces {
  if (isTerminal(process.stdout, config)) {
    return { screen: new TerminalScreen(process.stdout), paint: paintOn(process.stdout, config) }
  }
  const isWatched = isTerminal(process.stderr, config)
  return {
    screen: isWatched ? new TerminalScreen(process.stderr) : plainScreen((text) => process.stderr.write(text)),
    paint: paintOn(process.stderr, config),
    answer: (text) => process.stdout.write(text),
    isShared: isSameFile(1, 2),
  }
}

/** As with `2>&1`. A descriptor that is closed is no file. */
function isSameFile(one: number, other: number): boolean {
  try {
    const [a, b] = [fstatSync(one), fstatSync(other)]
    return a.dev === b.dev && a.ino === b.ino
  } catch {
    return false
  }
}
