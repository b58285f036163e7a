/** All mutants of the MCP host. */
import { calling, environment, processes } from './calling.ts'
import { listing } from './listing.ts'
import { meeting } from './meeting.ts'
import type { Mutant } from './mutant.ts'

export const mutants: readonly Mutant[] = [...meeting, ...listing, ...calling, ...processes, ...environment]
