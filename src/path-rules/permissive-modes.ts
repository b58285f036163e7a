/** The permission modes in which calls run about which a user would otherwise be asked. */
import type { PermissionModeId } from '../ports/values/settings.ts'

export const PERMISSIVE_MODES: ReadonlySet<string> = new Set<PermissionModeId>(['accept-edits', 'allow-all'])
