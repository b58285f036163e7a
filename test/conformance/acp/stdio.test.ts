/** Parley held to ACP v1 as an editor starts it, in what the relay between them can spoil. */
import { CARRIED, conformsOver } from './over-transport.ts'
import { stdio } from './transport.ts'

conformsOver(stdio(), CARRIED)
