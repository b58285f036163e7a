/** Instructions of directories that a tool has just worked in: told with its result, once. */
import type { Content } from '../../../../ports/content.ts'
import type { ModelToolCall } from '../../../../ports/model.ts'
import { nestedInstructions } from './instructions.ts'
import { instructed } from './system-prompt.ts'
import type { TurnWork } from '../loop/work.ts'

export interface AnnouncedFiles {
  readonly content: readonly Content[]
  readonly told: readonly string[]
}

export async function directoryInstructions({ turn, context }: TurnWork, call: ModelToolCall): Promise<AnnouncedFiles> {
  const paths = pathsIn(call.args)
  if (paths.length === 0) return { content: [], told: [] }
  const bars = await turn.bars()
  const found = await Promise.all(
    paths.map((path) => nestedInstructions(path, { roots: turn.roots, told: context.told, bars })),
  )
  const fresh = new Map(found.flat().map((one) => [one.path, one]))
  return {
    content: [...fresh.values()].map((one) => ({ type: 'text', text: instructed(one) })),
    told: [...fresh.keys()],
  }
}

/** What tools call the files that they work on. */
function pathsIn(args: unknown): readonly string[] {
  if (typeof args !== 'object' || args === null) return []
  const { path, file_path: filePath, paths } = args as Readonly<Record<string, unknown>>
  const all = [path, filePath, ...(Array.isArray(paths) ? (paths as readonly unknown[]).slice(0, 16) : [])]
  return all.filter((one): one is string => typeof one === 'string' && !one.includes('\0'))
}
