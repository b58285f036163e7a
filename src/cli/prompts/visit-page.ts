/** Pages that a server asks the user to visit: shown whole, and opened only when the user agrees. */
import { domainToUnicode } from 'node:url'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import type { ClientPages, PageRequest } from '../../client/incoming/client-methods.ts'
import { openBrowser } from '../runtime/browser.ts'
import type { Style } from '../output/terminal/colors.ts'
import { clean, oneLine } from '../output/terminal/text.ts'

export interface Visiting {
  readonly ask: ClientDelegate['ask']
  /** A line of ours, above the question. */
  readonly note: (style: Style, text: string) => void
  readonly environment: Readonly<Record<string, string | undefined>>
}

export function pagesFor({ ask, note, environment }: Visiting): ClientPages {
  return {
    async visit(request, withdrawn) {
      const page = pageToVisit(request.url)
      if (page === undefined) {
        note('bad', `A server wants a page visited that is none of the web: ${oneLine(request.url, 200)}`)
        return 'cancel'
      }
      if (page.url.length > MAX_URL_LENGTH) note('plain', page.url)
      const chosen = await ask(questionOf(request, page), withdrawn)
      if (chosen !== 'accept') return chosen === 'decline' ? 'decline' : 'cancel'
      const opened = await openBrowser(page.url, environment)
      note('dim', opened ? 'Your browser opens this page:' : 'Open this page in a browser:')
      note('plain', page.url)
      return 'accept'
    },
  }
}

/** Characters that a question shows whole; a longer address stands above it. */
const MAX_URL_LENGTH = 500

export interface PageToVisit {
  /** Exactly the URL that is opened; characters that could mislead are escaped. */
  readonly url: string
  readonly host: string
  readonly warnings: readonly string[]
}

/** Undefined for what is no page of the web. */
export function pageToVisit(text: string): PageToVisit | undefined {
  if (!URL.canParse(text)) return undefined
  const { href, host, hostname, protocol, username } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  const isNear = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/u.test(hostname)
  const warnings = [
    ...(hostname.split('.').some((label) => label.startsWith('xn--'))
      ? [
          `Careful: ${hostname} reads "${clean(domainToUnicode(hostname))}". Letters of other alphabets can look like those you know.`,
        ]
      : []),
    ...(username === '' ? [] : [`Careful: the part before @ is misleading. This address leads to ${host}.`]),
    ...(protocol === 'http:' && !isNear ? ['Careful: it is not encrypted.'] : []),
  ]
  return { url: href, host, warnings }
}

/** The address first, because it is never cut off; then warnings about it; then the server's own message. */
function questionOf({ sessionId, message }: PageRequest, { url, host, warnings }: PageToVisit): PermissionQuestion {
  const words = [url, ...warnings, oneLine(message, 300)].join('\n')
  return {
    sessionId,
    toolCall: {
      toolCallId: '',
      title: `Visit a page of ${host}?`,
      content: [{ type: 'content', content: { type: 'text', text: words } }],
    },
    options: [
      { optionId: 'accept', name: 'Yes, open it in my browser', kind: 'allow_once' },
      { optionId: 'decline', name: 'No', kind: 'reject_once' },
    ],
  }
}
