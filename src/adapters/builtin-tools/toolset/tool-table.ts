/** Every builtin tool, in the order of the list that a model gets. */
import type { Tool } from '../../../ports/tools.ts'
import { commandOutput } from '../run/command-output.ts'
import { readDocument } from '../documents/read-document.ts'
import { searchDocuments } from '../documents/search-documents.ts'
import { editFile } from '../edit/edit-file.ts'
import { fetchUrl } from '../fetch/fetch-url.ts'
import { findFiles } from '../search/find-files.ts'
import { listDirectory } from '../files/list-directory.ts'
import { listResources } from '../resources/list-resources.ts'
import { plan } from '../plan.ts'
import { readFile } from '../files/read-file.ts'
import { readResource } from '../resources/read-resource.ts'
import { readResult } from '../read-result.ts'
import { runCommand } from '../run/run-command.ts'
import { searchSessions } from '../search-sessions.ts'
import { searchText } from '../search/search-text.ts'
import { writeFile } from '../files/write-file.ts'
import type { BuiltinTool } from './tool.ts'

/** In this order, always: a model that has seen the list keeps what it made of it. */
export const builtinTools: readonly BuiltinTool[] = [
  readFile,
  writeFile,
  editFile,
  listDirectory,
  findFiles,
  searchText,
  runCommand,
  commandOutput,
  fetchUrl,
  plan,
  searchDocuments,
  readDocument,
  searchSessions,
  readResult,
  listResources,
  readResource,
]

/** The tools that read documents through their index. */
export const documentTools: readonly Tool[] = [searchDocuments.tool, readDocument.tool]
