/** The name and version of this server, in every protocol. */
import pkg from '../../package.json' with { type: 'json' }

export const serverInfo = { name: 'parley', title: 'Parley', version: pkg.version } as const
