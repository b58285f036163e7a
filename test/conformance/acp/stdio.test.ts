/** Parley held to ACP v1 as an editor starts it. `npm run conformance` prints the same as a table, and also without a server. */
import { conformsOver } from './over-transport.ts'
import { stdio } from './transport.ts'

conformsOver(stdio())
