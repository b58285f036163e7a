'use strict'
/**
 * Loads the bundles in `dist/chunks` with the code that V8 has compiled of them before, which takes a quarter off the processor
 * time of a start. That code is in `cache`, in a directory for each build of V8, its flags and this kind of processor. What
 * runs without it stores it when it ends, if this user may write there: then this user may change the bundles too.
 */
const {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} = require('node:fs')
const path = require('node:path')
const { cachedDataVersionTag } = require('node:v8')
const { Script } = require('node:vm')
const { threadId } = require('node:worker_threads')

const cache = path.join(__dirname, '../cache', cachedDataVersionTag().toString(16))
/** What a report of coverage counts is compiled for that. */
const isUsed = process.env.NODE_V8_COVERAGE === undefined
const modules = new Map()
/** Those that were compiled without a cache, by the file in which it belongs. */
const compiled = new Map()

/** What a bundle exports; by its whole path, without symbolic links. */
function load(bundle) {
  const known = modules.get(bundle)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  modules.set(bundle, module)
  const { dir } = path.parse(bundle)
  try {
    compile(bundle)(module.exports, requireFrom(dir), module, bundle, dir)
  } catch (error) {
    // Another attempt begins anew: meanwhile there may be a file descriptor for it.
    modules.delete(bundle)
    throw error
  }
  return module.exports
}

function requireFrom(directory) {
  return (name) => (name.startsWith('.') ? load(path.join(directory, name)) : require(name))
}

function compile(bundle) {
  const file = cacheOf(bundle)
  const source = readFileSync(bundle, 'utf8')
  const cachedData = isUsed ? stored(file) : undefined
  const script = new Script(source, { filename: bundle, cachedData })
  if (cachedData === undefined || script.cachedDataRejected) compiled.set(file, script)
  return script.runInThisContext()
}

function stored(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/**
 * The name of a bundle ends with a hash of its content, and its time tells whether it was edited since: V8 itself would take
 * any cache of a source of this length.
 */
function cacheOf(bundle) {
  return path.join(cache, `${path.basename(bundle)}.${statSync(bundle).mtimeMs}`)
}

/** Also what was compiled later than its bundle was loaded is stored. For processes and threads of Parley's own. */
function storeAtExit() {
  if (!isUsed) return
  process.once('exit', () => {
    for (const [file, script] of compiled) {
      try {
        store(file, script)
      } catch {
        // The package may be read-only, or the disk full; the next start compiles again.
      }
    }
  })
}

/**
 * Under its name it is whole, even after a power failure: V8 does not check what it reads. Whatever this process leaves to
 * others by its mask, only the owner may write here.
 */
function store(file, script) {
  if (existsSync(file)) return
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  const draft = `${file}.${process.pid}-${threadId}`
  const data = script.createCachedData()
  const descriptor = openSync(draft, 'w', 0o644)
  try {
    for (let written = 0; written < data.length;) written += writeSync(descriptor, data, written)
    fsyncSync(descriptor)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

module.exports = { load, storeAtExit }
