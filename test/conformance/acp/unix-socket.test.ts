/** Parley held to ACP v1 on the socket of its server. */
import { conformsOver } from './over-transport.ts'
import { unixSocket } from './transport.ts'

conformsOver(unixSocket(), 'all')
