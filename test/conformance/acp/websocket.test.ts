/** Parley held to ACP v1 over WebSocket, with a token that may do everything, in what a transport can spoil. */
import { conformsOver } from './over-transport.ts'
import { webSocket } from './transport.ts'

conformsOver(webSocket(), 'carried')
