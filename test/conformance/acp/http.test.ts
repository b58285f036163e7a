/**
 * Parley held to ACP v1 over Streamable HTTP, in what a transport can spoil.
 * `npm run conformance` holds it to all of it.
 */
import { conformsOver } from './over-transport.ts'
import { http } from './transport.ts'

conformsOver(http(), 'carried')
