/** Unpacks bzip2, which some agents are packed with and which Node does not have. Pure; one block of at most 900 kB at a time. */

const BLOCK = 0x314159265359
const END = 0x177245385090
/** Symbols that share one table of codes. */
const GROUP = 50
const MAX_CODE_BITS = 20
/** Codes of at most so many bits are looked up at once. */
const SHORT_BITS = 11

/** The pieces of the content. Throws for what is damaged or cut. */
export function* unbzip2(packed: Uint8Array): Generator<Uint8Array> {
  const bits = new Bits(packed)
  // Some programs pack several pieces at once and put them one after the other.
  do yield* stream(bits)
  while (bits.hasMore)
}

function* stream(bits: Bits): Generator<Uint8Array> {
  const isMarked = bits.take(8) === 0x42 && bits.take(8) === 0x5a && bits.take(8) === 0x68
  const level = bits.take(8) - 0x30
  if (!isMarked || level < 1 || level > 9) throw new Error('it is not packed with bzip2')
  let all = 0
  for (;;) {
    const mark = bits.take(24) * 2 ** 24 + bits.take(24)
    const sum = bits.take32()
    if (mark === END && sum !== all) throw new Error('it is damaged: its sum is wrong')
    if (mark === END) break
    if (mark !== BLOCK) throw new Error('it is damaged: no block begins where one should')
    const content = block(bits, level * 100_000)
    if (sumOf(content) !== sum) throw new Error('it is damaged: the sum of a block is wrong')
    all = (((all << 1) | (all >>> 31)) ^ sum) >>> 0
    yield content
  }
  bits.toByte()
}

function block(bits: Bits, size: number): Uint8Array {
  if (bits.take(1) === 1) throw new Error('it is packed in a way that is no longer used')
  const start = bits.take(24)
  const bytes = usedBytes(bits)
  const { codes, selectors } = tables(bits, bytes.length + 2)
  const last = lastColumn({ bits, bytes, codes, selectors, size })
  if (start >= last.length) throw new Error('it is damaged: a block begins outside itself')
  return withRuns(sorted(last, start))
}

function usedBytes(bits: Bits): Uint8Array {
  const rows = bits.take(16)
  const used: number[] = []
  for (let row = 0; row < 16; row += 1) {
    if ((rows & (0x8000 >> row)) === 0) continue
    const columns = bits.take(16)
    for (let column = 0; column < 16; column += 1) if (columns & (0x8000 >> column)) used.push(row * 16 + column)
  }
  if (used.length === 0) throw new Error('it is damaged: a block has no bytes')
  return Uint8Array.from(used)
}

interface Tables {
  readonly codes: readonly Codes[]
  /** Which codes each group of symbols has. */
  readonly selectors: Uint8Array
}

function tables(bits: Bits, symbols: number): Tables {
  const count = bits.take(3)
  const selectors = new Uint8Array(bits.take(15))
  if (count < 2 || count > 6 || selectors.length === 0) throw new Error('it is damaged: a block has no codes')
  const order = Array.from({ length: count }, (_, at) => at)
  for (let at = 0; at < selectors.length; at += 1) {
    let back = 0
    while (bits.take(1) === 1) if ((back += 1) >= count) throw new Error('it is damaged: there are no such codes')
    const [chosen = 0] = order.splice(back, 1)
    order.unshift(chosen)
    selectors[at] = chosen
  }
  return { codes: Array.from({ length: count }, () => new Codes(lengths(bits, symbols))), selectors }
}

function lengths(bits: Bits, symbols: number): Uint8Array {
  const all = new Uint8Array(symbols)
  let length = bits.take(5)
  for (let at = 0; at < symbols; at += 1) {
    while (bits.take(1) === 1) length += bits.take(1) === 0 ? 1 : -1
    if (length < 1 || length > MAX_CODE_BITS) throw new Error('it is damaged: a code is too long')
    all[at] = length
  }
  return all
}

/** Codes of one table: those of a length are consecutive numbers, in the order of their symbols. */
class Codes {
  /** By length: the last code, and what to take from a code for its place in `#symbols`. */
  readonly #limits = new Int32Array(MAX_CODE_BITS + 2).fill(-1)
  readonly #offsets = new Int32Array(MAX_CODE_BITS + 2)
  readonly #symbols: Uint16Array
  /** By the next bits: the symbol of a short code, times 32, and its length; 0 for a longer code. */
  readonly #short = new Uint16Array(1 << SHORT_BITS)

  constructor(all: Uint8Array) {
    const inOrder = [...all.keys()].toSorted((one, other) => (all[one] ?? 0) - (all[other] ?? 0) || one - other)
    this.#symbols = Uint16Array.from(inOrder)
    let code = 0
    let place = 0
    for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
      const count = all.reduce((sum, one) => sum + Number(one === length), 0)
      this.#offsets[length] = place - code
      if (count > 0) this.#limits[length] = code + count - 1
      if (length <= SHORT_BITS) this.#remember(length, { code, place, count })
      code = (code + count) << 1
      place += count
    }
  }

  #remember(length: number, { code, place, count }: Readonly<Record<'code' | 'place' | 'count', number>>): void {
    const free = SHORT_BITS - length
    for (let at = 0; at < count; at += 1) {
      const entry = (this.#symbols[place + at] ?? 0) * 32 + length
      this.#short.fill(entry, (code + at) << free, (code + at + 1) << free)
    }
  }

  symbol(bits: Bits): number {
    const entry = this.#short[bits.next(SHORT_BITS)] ?? 0
    if (entry > 0) {
      bits.take(entry & 31)
      return entry >>> 5
    }
    let code = 0
    for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
      code = (code << 1) | bits.take(1)
      if (code <= (this.#limits[length] ?? -1)) return this.#symbols[code + (this.#offsets[length] ?? 0)] ?? 0
    }
    throw new Error('it is damaged: there is no such code')
  }
}

interface Coded extends Tables {
  readonly bits: Bits
  readonly bytes: Uint8Array
  /** That a block has at most. */
  readonly size: number
}

/** Runs and moves to the front undone: the last column of the sorted rotations. */
function lastColumn({ bits, bytes, codes, selectors, size }: Coded): Uint8Array {
  const column = new Uint8Array(size)
  const recent = Uint8Array.from(bytes)
  const end = bytes.length + 1
  let filled = 0
  let run = 0
  let weight = 1
  for (const chosen of selectors) {
    const table = codes[chosen]
    if (table === undefined) break
    for (let at = 0; at < GROUP; at += 1) {
      const symbol = table.symbol(bits)
      if (symbol <= 1) {
        run += weight << symbol
        // Longer than any block, and refused below.
        weight = Math.min(weight * 2, 2 ** 22)
        continue
      }
      if (filled + run + (symbol === end ? 0 : 1) > size) throw new Error('it is damaged: a block is too long')
      column.fill(recent[0] ?? 0, filled, filled + run)
      filled += run
      run = 0
      weight = 1
      if (symbol === end) return column.subarray(0, filled)
      const byte = recent[symbol - 1] ?? 0
      recent.copyWithin(1, 0, symbol - 1)
      recent[0] = byte
      column[filled] = byte
      filled += 1
    }
  }
  throw new Error('it is damaged: a block has no end')
}

/** The rotation that was packed, from the last column of all of them in their order. */
function sorted(last: Uint8Array, start: number): Uint8Array {
  const places = new Uint32Array(256)
  for (const byte of last) places[byte] = (places[byte] ?? 0) + 1
  let before = 0
  for (let byte = 0; byte < 256; byte += 1) {
    const count = places[byte] ?? 0
    places[byte] = before
    before += count
  }
  const next = new Uint32Array(last.length)
  for (let at = 0; at < last.length; at += 1) {
    const byte = last[at] ?? 0
    const place = places[byte] ?? 0
    next[place] = at
    places[byte] = place + 1
  }
  const content = new Uint8Array(last.length)
  let at = next[start] ?? 0
  for (let filled = 0; filled < content.length; filled += 1) {
    content[filled] = last[at] ?? 0
    at = next[at] ?? 0
  }
  return content
}

/** After four equal bytes stands how many more of them there are. */
function withRuns(bytes: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = []
  let equal = 0
  let from = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (equal === 4) {
      pieces.push(bytes.subarray(from, at), new Uint8Array(bytes[at] ?? 0).fill(bytes[at - 1] ?? 0))
      from = at + 1
      equal = 0
    } else equal = equal > 0 && bytes[at] === bytes[at - 1] ? equal + 1 : 1
  }
  return Buffer.concat([...pieces, bytes.subarray(from)])
}

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let bit = 0; bit < 8; bit += 1) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  return sum
})

function sumOf(bytes: Uint8Array): number {
  let sum = -1
  for (const byte of bytes) sum = (sum << 8) ^ (SUMS[(sum >>> 24) ^ byte] ?? 0)
  return ~sum >>> 0
}

/** The highest bit of each byte comes first. */
class Bits {
  readonly #bytes: Uint8Array
  #at = 0
  #held = 0
  #count = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  /** At most 24, which stay; zeros stand for what is missing at the end. */
  next(count: number): number {
    while (this.#count < count && this.#at < this.#bytes.length) this.#read()
    const missing = Math.max(0, count - this.#count)
    return ((this.#held >>> (this.#count + missing - count)) << missing) & ((1 << count) - 1)
  }

  /** At most 24. */
  take(count: number): number {
    while (this.#count < count) this.#read()
    this.#count -= count
    return (this.#held >>> this.#count) & ((1 << count) - 1)
  }

  take32(): number {
    return this.take(16) * 2 ** 16 + this.take(16)
  }

  toByte(): void {
    this.#count -= this.#count % 8
  }

  #read(): void {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new Error('its end is missing')
    this.#at += 1
    this.#held = (this.#held << 8) | byte
    this.#count += 8
  }
}
