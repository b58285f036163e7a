/** When the process that serves the state has lost it and must end. */
import type { Ownership } from '../../ports/ownership.ts'

/** Resolves, with why if that is known, when the state is lost; never where it could not be owned in the first place. */
export async function lossOf(ownership: Promise<Ownership>): Promise<string | undefined> {
  const held = await ownership.catch(() => undefined)
  return new Promise((resolve) => {
    const tell = () => resolve(typeof held?.lost.reason === 'string' ? held.lost.reason : undefined)
    if (held?.lost.aborted === true) tell()
    else held?.lost.addEventListener('abort', tell, { once: true })
  })
}
