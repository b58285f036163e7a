/** Parley held to ACP v1 in one process, without a server: a process for most cases, so it is one of the heavy tests. */
import { conformsOver } from './over-transport.ts'
import { embedded } from './transport.ts'

conformsOver(embedded())
