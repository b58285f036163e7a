/** A person without a browser who says yes wherever an authorization server asks, and goes back where that sends them. */
import type { Elicitation, ElicitationAnswer } from '../../../src/ports/values/elicitation.ts'

export async function willing(question: Elicitation): Promise<ElicitationAnswer> {
  if (question.mode === 'url') void visit(question.url)
  return { action: 'accept', content: {} }
}

/** Follows every step to its end, as a browser does. */
async function visit(page: string): Promise<void> {
  await fetch(page).then(
    (response) => response.text(),
    (error: unknown) => console.error('the page could not be opened', error),
  )
}
