/** How a builtin tool fails: in sentences that a model can act on. */
import type { z } from 'zod'
import { ParleyError, fail, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { ToolPreview, ToolResult } from '../../../ports/tools.ts'

/** Throws a sentence that says what went wrong and how the model can do better. */
export function failTool(reason: string, cause?: unknown): never {
  return fail('TOOL_FAILED', { reason }, cause)
}

/** Other errors may be temporary, so they do not block the call. */
export function cannotRunBy(error: unknown): Pick<ToolPreview, 'cannotRunReason'> {
  return isParleyError(error) ? { cannotRunReason: error.message } : {}
}

export function argumentsError(tool: string, error: z.ZodError): ParleyError<'TOOL_ARGUMENTS'> {
  return new ParleyError('TOOL_ARGUMENTS', { tool, reason: problemsIn(error) })
}

function problemsIn({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ')
}

/** Sentences for system errors, without the path: it may be an internal one. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'the system does not permit it',
  EPERM: 'the system does not permit it',
  EROFS: 'that disk can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EMFILE: 'too many files are open; try again',
  ENOENT: 'it has gone meanwhile',
  ENOTDIR: 'it changes while it is looked at; try again',
  ELOOP: 'it changes while it is looked at; try again',
  EEXIST: 'it changes while it is looked at; try again',
  EISDIR: 'it changes while it is looked at; try again',
}

function systemReason(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? (SYSTEM_REASONS[code] ?? (code.startsWith('E') ? code : undefined)) : undefined
}

/** The result of a call that went wrong. Throws TOOL_ARGUMENTS, which is none. */
export function failedResult(error: unknown): ToolResult {
  if (isParleyError(error, 'TOOL_ARGUMENTS')) throw error
  const why = isParleyError(error) ? error.message : `It failed: ${systemReason(error) ?? reasonOf(error)}.`
  return { content: [{ type: 'text', text: why }], isError: true }
}
