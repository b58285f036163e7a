/**
 * Parley held to ACP v1 over Streamable HTTP, in what a transport can spoil: order, ids, replays, requests to the client.
 * `npm run conformance` holds it to all of it.
 */
import { CARRIED, conformsOver } from './over-transport.ts'
import { http } from './transport.ts'

conformsOver(http(), CARRIED)
