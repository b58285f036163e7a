/** What people set about a session's agent. Everyone attached hears of it, also who set it. */
import { fail } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import type { ClientCapabilities } from '../initialize/client-capabilities.ts'
import type { Parsed } from './params.ts'
import { shownOptions } from '../render/entry-to-update.ts'

interface Answered {
  readonly result: unknown
}

export async function setMode(session: Session, { modeId }: Parsed<'session/set_mode'>): Promise<Answered> {
  await session.dispatch({ kind: 'set_mode', modeId })
  return { result: {} }
}

/** Answers with all options as they are then. One that this client cannot show is not there for it. */
export async function setConfigOption(
  session: Session,
  { configId, value }: Parsed<'session/set_config_option'>,
  dialect: ClientCapabilities,
): Promise<Answered> {
  const shown = () => shownOptions(session.requireCreated.settings.configOptions, dialect)
  if (!shown().some(({ id }) => id === configId)) fail('CONFIG_OPTION_UNKNOWN', { option: configId })
  await session.dispatch({ kind: 'set_config_option', configId, value })
  return { result: { configOptions: shown() } }
}
