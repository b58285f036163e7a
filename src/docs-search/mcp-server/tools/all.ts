/** The tools of the document server, as it lists them. */
import type { Tool } from '@modelcontextprotocol/server'
import { listDocuments } from './list-documents.ts'
import { minDocGlobalSearch } from './min-doc-global-search.ts'
import { outline } from './outline.ts'
import { readDocument } from './read-document.ts'
import { searchDocuments } from './search-documents.ts'
import type { DocumentTool } from './tool.ts'

export const TOOLS: readonly DocumentTool[] = [
  minDocGlobalSearch,
  searchDocuments,
  readDocument,
  listDocuments,
  outline,
]

/** Withdrawn while none of the collections is there. */
export function toolsOf(present: readonly string[]): Tool[] {
  return present.length === 0 ? [] : TOOLS.map((tool) => tool.definition(present))
}
