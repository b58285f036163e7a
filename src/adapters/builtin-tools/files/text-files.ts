/** The text files of a call: with the unsaved changes of the client's editor where the client serves files, else as stored on disk; and how a change to one is shown to users. */
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import { type FileBytes, readBytesIfThere, writeBytes } from '../../../workspace/files.ts'
import { type Root, pathAsGiven, openRoots, pathFromFirstRoot, realPath } from '../../../workspace/resolve-in-roots.ts'
import { type Decoded, UTF_8, decode, encode } from '../../../workspace/encoding.ts'
import { describeBinary } from '../../../workspace/file-type.ts'
import { type PreviewContext, type ToolCall, assertPathAllowed } from '../toolset/tool.ts'
import { failTool } from '../toolset/tool-failure.ts'
import type { ToolCallContent } from '../../../ports/values/content.ts'

export interface TextFile extends Decoded {
  readonly real: string
  /** The path as clients and users write it. */
  readonly path: string
  /** From the first directory of the session on. */
  readonly shown: string
}

/** A text file, or the bytes of a binary one. */
type Opened = TextFile | (FileBytes & { readonly shown: string })

export function isText(opened: Opened): opened is TextFile {
  return 'text' in opened
}

/** Throws FILE_MISSING, PATH_OUTSIDE_ROOTS, and what the client says. */
export async function openTextFile(path: string, looking: PreviewContext): Promise<Opened> {
  return (await findFile(path, looking)) ?? fail('FILE_MISSING', { path })
}

/** Throws what `openFile` throws, and what it is if it is no text. */
export async function openText(path: string, looking: PreviewContext): Promise<TextFile> {
  return requireText(await openTextFile(path, looking))
}

/** Undefined where there is no such file. */
export async function openIfThere(path: string, looking: PreviewContext): Promise<TextFile | undefined> {
  const opened = await findFile(path, looking)
  return opened && requireText(opened)
}

async function findFile(path: string, { caller }: PreviewContext): Promise<Opened | undefined> {
  const roots = await openRoots(caller.roots)
  const stored = await readStored(path, roots)
  if (stored !== undefined && !isText(stored)) return stored
  const lent = await textInEditor(stored ?? (await namesOf(path, roots)), stored !== undefined, caller.client)
  if (lent === undefined) return stored
  return { ...UTF_8, ...(stored ?? (await namesOf(path, roots))), text: lent }
}

function requireText(opened: Opened): TextFile {
  return isText(opened) ? opened : failTool(`${opened.shown} is ${describeBinary(opened.bytes)}, not a text.`)
}

/** A file that is still to be written. */
export async function newFile(path: string, { caller }: PreviewContext): Promise<TextFile> {
  return { ...(await namesOf(path, await openRoots(caller.roots))), text: '', ...UTF_8 }
}

/** Writes the file where it was read: through the client if the client serves its files. */
export async function saveText(file: TextFile, call: ToolCall): Promise<void> {
  const { caller, memory, services } = call
  assertPathAllowed(file.real, call)
  const { readTextFile, writeTextFile } = caller.client
  if (writeTextFile !== undefined) {
    await writeTextFile({ path: file.path, content: file.text })
  } else {
    const roots = await openRoots(caller.roots)
    if (readTextFile !== undefined) await assertSavedInEditor(file, roots, call)
    await writeBytes({
      path: file.real,
      bytes: encode(file),
      roots,
      id: services.clock.id(),
      found: (real) => assertPathAllowed(real, call),
    })
  }
  memory.files.saw(file.real, file.text)
}

/** Undefined where there is no such file. */
async function readStored(path: string, roots: readonly Root[]): Promise<Opened | undefined> {
  const file = await readBytesIfThere(path, roots)
  if (file === undefined) return undefined
  const { real, bytes } = file
  const decoded = decode(bytes)
  const shown = pathFromFirstRoot(real, roots)
  return decoded === undefined ? { real, bytes, shown } : { real, path: pathAsGiven(real, roots), shown, ...decoded }
}

/** Undefined where the client cannot serve the file: it serves no files, or has none of this name either. */
async function textInEditor(
  { path }: Pick<TextFile, 'path'>,
  isStored: boolean,
  { readTextFile }: PreviewContext['caller']['client'],
): Promise<string | undefined> {
  if (readTextFile === undefined) return undefined
  try {
    return await readTextFile({ path })
  } catch (error) {
    if (!isStored && isParleyError(error, 'CLIENT_REFUSED')) return undefined
    throw error
  }
}

/** The editor may hold unsaved changes: writing the stored text would lose them. */
async function assertSavedInEditor(
  file: TextFile,
  roots: readonly Root[],
  { caller: { client } }: PreviewContext,
): Promise<void> {
  const stored = await readStored(file.real, roots)
  const lent = await textInEditor(file, stored !== undefined, client)
  if (lent !== undefined && stored !== undefined && isText(stored) && stored.text !== lent)
    failTool(`${file.shown} has unsaved changes in the editor, which does not accept writes. Ask the user to save it.`)
}

async function namesOf(path: string, roots: readonly Root[]) {
  const real = await realPath(path, roots)
  return { real, path: pathAsGiven(real, roots), shown: pathFromFirstRoot(real, roots) }
}

/** Lines shown before and after. */
const CONTEXT_LINES = 3

/** Characters that are shown at all. */
const MAX_DIFF_CHARS = 256 * 1024

interface Difference {
  readonly content: readonly ToolCallContent[]
  /** The first line that differs, counted from 1. */
  readonly line: number
}

/** `before` is null for a file that was not there. */
export function editDiffOf(path: string, before: string | null, after: string): Difference {
  if (before === null) return { content: changeContent({ path, oldText: null, newText: after }), line: 1 }
  const [old, new_] = [before.split('\n'), after.split('\n')]
  const shorter = Math.min(old.length, new_.length)
  const start = countSame(shorter, (index) => old[index] === new_[index])
  const end = countSame(shorter - start, (index) => old.at(-1 - index) === new_.at(-1 - index))
  const part = (lines: readonly string[]) =>
    lines.slice(Math.max(0, start - CONTEXT_LINES), lines.length - Math.max(0, end - CONTEXT_LINES)).join('\n')
  return { content: changeContent({ path, oldText: part(old), newText: part(new_) }), line: start + 1 }
}

interface Change {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

function changeContent(change: Change): readonly ToolCallContent[] {
  const length = (change.oldText?.length ?? 0) + change.newText.length
  if (length <= MAX_DIFF_CHARS) return [{ type: 'diff', ...change }]
  return [
    {
      type: 'content',
      content: { type: 'text', text: `The change has ${length} characters; that is too long to show.` },
    },
  ]
}

function countSame(most: number, isSame: (index: number) => boolean): number {
  let count = 0
  while (count < most && isSame(count)) count += 1
  return count
}
