#!/usr/bin/env node
// Loads only what argv[2] needs: each command is a bundle of its own behind the main one.
import { main } from '../dist/main.mjs'

process.exitCode = await main(process.argv.slice(2))
