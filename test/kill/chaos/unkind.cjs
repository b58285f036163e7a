/** Loaded into everyone before their own code; in a server it ends the journal's thread, or moves the clock, when a file says so. */
const { existsSync, readFileSync, readdirSync, rmSync, watch } = require('node:fs')
const path = require('node:path')
const { isMainThread } = require('node:worker_threads')

const orders = process.env.CHAOS_ORDERS ?? ''
// Its threads have a copy of its environment.
if (isMainThread) process.env.CHAOS_SERVES = String(process.argv[2] === 'serve' || process.argv.includes('--embedded'))
const serves = orders !== '' && process.env.CHAOS_SERVES === 'true'
const isJournal = !isMainThread && (process.argv[1] ?? '').includes('journal-worker')

function taken(order) {
  const place = path.join(orders, order)
  if (!existsSync(place)) return undefined
  const said = readFileSync(place, 'utf8')
  // It is there before its words are.
  if (said === '') return undefined
  rmSync(place, { force: true })
  return said
}

function look() {
  if (isJournal && taken('end the journal thread') !== undefined) process.exit(7)
  const jump = isMainThread ? taken('jump') : undefined
  if (jump === undefined) return
  const now = Date.now
  Date.now = () => now() + Number(jump)
}

// What was ordered of the server before it is nothing to this one: it is well until something is ordered of it.
if (serves && isMainThread) for (const order of readdirSync(orders)) rmSync(path.join(orders, order), { force: true })
if (serves && (isMainThread || isJournal)) watch(orders, look).unref()
