/** `fetch_url`: a page of the public web as text. The request itself can leak data, so every call requires approval. */
import { z } from 'zod'
import { defineTool } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'

export const fetchUrl = defineTool({
  name: 'fetch_url',
  title: 'Fetch page',
  description:
    'Gets a page of the public web by http or https and gives back its text, or a picture. Never put secrets or file contents into the address. A redirect to another host is reported, not followed.',
  arguments: z.strictObject({ url: z.string().min(1).max(4_000) }),
  kind: 'fetch',
  readOnly: false,
  preview({ url }) {
    const { host, pathname, href } = webAddress(url)
    return { title: `Fetch ${host}${pathname.slice(0, 80)}`, url: href }
  },
  async run({ url }, call) {
    const address = webAddress(url)
    // The HTTP client is large, and few sessions need it.
    const { fetched } = await import('./fetched.ts')
    return fetched(address, call)
  },
})

/** Throws for a URL that is not http or https, or that contains a user name or password. */
function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol))
    return failTool('Give a whole address that begins with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    return failTool('An address with a name or password in it is not fetched.')
  url.hash = ''
  return url
}
