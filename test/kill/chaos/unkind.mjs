/** Loaded into a server before its own code: ends its journal thread, or moves its clock, when a file says so. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const orders = process.env.CHAOS_ORDERS ?? ''
const isJournal = !isMainThread && (process.argv[1] ?? '').includes('journal-worker')

function taken(order) {
  const path = join(orders, order)
  if (!existsSync(path)) return undefined
  const said = readFileSync(path, 'utf8')
  rmSync(path, { force: true })
  return said
}

function look() {
  if (isJournal && taken('end the journal thread') !== undefined) process.exit(7)
  const jump = isMainThread ? taken('jump') : undefined
  if (jump === undefined) return
  const now = Date.now
  Date.now = () => now() + Number(jump)
}

if (orders !== '' && (isMainThread || isJournal)) setInterval(look, 5).unref()
