/** The permission modes as agents offer them. The session knows by their ids which calls need permission. */
import type { Mode, Modes, PermissionModeId, SelectOption } from '../../ports/values/settings.ts'

const modes = [
  { id: 'ask', name: 'Ask', description: 'Asks before anything is changed, run or sent.' },
  {
    id: 'accept-edits',
    name: 'Accept edits',
    description: 'Edits files of the session without asking; asks before the rest.',
  },
  { id: 'plan', name: 'Plan', description: 'Only reads and plans; whatever changes something is refused.' },
  {
    id: 'allow-all',
    name: 'Allow all',
    description:
      'Runs everything without asking, except calls that are recognised as destructive. This is not a sandbox.',
  },
] as const satisfies readonly (Mode & { readonly id: PermissionModeId })[]

export const PERMISSION_MODES: Modes = { currentModeId: 'ask', availableModes: modes }

/** The same choice for clients that show config options. The session keeps mode and option equal. */
export const PERMISSION_OPTION: SelectOption = {
  id: 'mode',
  name: 'Permission',
  category: 'mode',
  type: 'select',
  currentValue: PERMISSION_MODES.currentModeId,
  options: modes.map(({ id, name, description }) => ({ value: id, name, description })),
}
