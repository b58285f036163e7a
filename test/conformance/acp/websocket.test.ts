/** Parley held to ACP v1 over WebSocket, with a token that may do everything. */
import { conformsOver } from './over-transport.ts'
import { webSocket } from './transport.ts'

conformsOver(webSocket())
