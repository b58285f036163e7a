#!/usr/bin/env node
// Loads only what argv[2] needs: the relay alone, or the main bundle, behind which each command is one of its own.
const argv = process.argv.slice(2)
const isRelay = argv[0] === 'acp' && !argv.includes('--embedded')
const relayed = isRelay ? await (await import('../dist/relay.cjs')).default.main(argv) : undefined
const early = argv[0] === 'serve' ? (await import('./server-start.mjs')).journalThread : undefined

process.exitCode = relayed ?? (await (await import('../dist/main.cjs')).default.main(argv, early))
