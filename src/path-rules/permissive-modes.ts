/** The permission modes that run calls which would otherwise need a permission. */
import type { PermissionModeId } from '../ports/values/settings.ts'

export const PERMISSIVE_MODES: ReadonlySet<string> = new Set<PermissionModeId>(['accept-edits', 'allow-all'])
