/** All mutants of the MCP host: `npm run torture:mcp -- --mutants`. */
import { calling } from './calling.ts'
import { listing } from './listing.ts'
import { meeting } from './meeting.ts'
import type { Mutant } from './mutant.ts'
import { visiting } from './visiting.ts'

export const mutants: readonly Mutant[] = [...meeting, ...listing, ...calling, ...visiting]
