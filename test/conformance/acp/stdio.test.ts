/** Parley held to ACP v1 as an editor starts it, in what the relay between them can spoil. */
import { conformsOver } from './over-transport.ts'
import { stdio } from './transport.ts'

conformsOver(stdio(), 'carried')
