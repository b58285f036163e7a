/** A search of documents over bare HTTP, as a client of the newest protocol asks: one request, no session. */

const VERSION = '2026-07-28'

export interface FoundOverHttp {
  readonly total: number
  readonly results: readonly { readonly file: string; readonly headingPath: readonly string[] }[]
  /** Why not all of it may be found yet. */
  readonly notice?: string
}

/** Undefined when the server gave no result. */
export async function searchOverHttp(
  url: string,
  key: string,
  args: Readonly<Record<string, unknown>>,
): Promise<FoundOverHttp | undefined> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'search', version: '1' },
  }
  const headers = {
    'Content-Type': 'application/json',
    'X-API-Key': key,
    'MCP-Protocol-Version': VERSION,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'search_documents',
  }
  const params = { name: 'search_documents', arguments: args, _meta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const answer = await fetch(url, { method: 'POST', headers, body })
  const { result } = (await answer.json()) as { readonly result?: { readonly structuredContent?: FoundOverHttp } }
  return result?.structuredContent
}
