/** The tools of the document server, as it lists them. Light enough to be asked for where no server runs. */
import type { Tool } from '@modelcontextprotocol/server'
import { checkDirectories, collectionsOf } from '../../collections/collections.ts'
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

/** What a server of these directories will list first, without starting one. Throws DIRECTORY_MISSING, as it would. */
export async function toolsFor(directories: readonly string[]): Promise<readonly Tool[]> {
  await checkDirectories(directories)
  return toolsOf(collectionsOf(directories).map(({ name }) => name))
}
