/**
 * Parley held to ACP v1 in one process, without a server: what a process and its pipes decide, for most cases need a process
 * each. `npm run conformance` has all of them.
 */
import { conformsOver } from './over-transport.ts'
import { embedded } from './transport.ts'

conformsOver(embedded(), 'carried')
