/** Turns a user's question into keyword queries for a search, the strictest first. */
import { fold } from './fold.ts'

const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot could did do does doing
  explain for from get give had happen happened happens has have how i if in into is it its just know let like me may might mean means more most
  must my need no not of on or our please said say says shall should show so some tell than that the their them then there these they
  this those to us use used using want was way we were what when where which while who whom whose why will with work
  works would you your
  什么 怎么 怎样 怎么样 如何 为什么 为何 哪些 哪个 哪里 哪儿 哪 谁 何时 何处 多少 几 是否 是不是 能否 能不能 可以 可否 吗 呢 吧 啊
  的 地 得 了 着 过 是 在 和 与 及 或 以及 请 请问 告诉 我 我的 我们 你 你们 它 它们 这 那 这个 那个 有 没有 会 能 不 不能 要 需要 应该 被 把 对 从 到
  里 中 后 之后 前 之前 时 时候 当 一个 一下 怎 么 就 都 也 还 又 并 而 但 如果 使用 用`.split(/\s+/),
)

/** A word, or several that punctuation joins into one name: `session/load`, `file.md:12`. */
const JOINED_WORD = /[\p{L}\p{N}\p{M}_]+(?:[./:#@+-]+[\p{L}\p{N}\p{M}_]+)*/gu
const HAN = /\p{sc=Han}/u
const MAX_WORDS = 8
/** Characters that are used: a question stands at the beginning, pasted text behind it. */
const LOOKED_AT = 150_000
/** Characters; a longer word is not searched for. */
const MAX_WORD_CHARS = 100

/**
 * All content words; then all but one; then each alone, the longest first. The caller takes the first query that finds
 * something. Never throws; returns nothing only for a question without any word.
 */
export function queriesFor(question: string): readonly string[] {
  const names = fold(question.trimStart().slice(0, LOOKED_AT)).match(JOINED_WORD) ?? []
  const content = unique(names.flatMap((name) => (HAN.test(name) ? chineseWords(name) : isContent(name) ? [name] : [])))
  const candidates = (content.length > 0 ? content : unique(names)).filter(({ length }) => length <= MAX_WORD_CHARS)
  const words = candidates.slice(0, MAX_WORDS)
  const fewer = words.length > 2 ? words.map((_, left) => words.filter((_, i) => i !== left)) : []
  const alone = [...words].sort((a, b) => weight(b) - weight(a)).map((word) => [word])
  return unique([words, ...fewer, ...alone].map((query) => query.join(' '))).filter((query) => query !== '')
}

function isContent(word: string): boolean {
  return !STOP_WORDS.has(word) && word.length > 1
}

let known: Intl.Segmenter | undefined

/** Created by the first question in Chinese, because loading it takes time. */
function dictionary(): Intl.Segmenter {
  known ??= new Intl.Segmenter('zh', { granularity: 'word' })
  return known
}

/** The content words of a run without spaces. Characters that the dictionary leaves single join the next word: 阵列, 软raid. */
function chineseWords(run: string): readonly string[] {
  const words: string[] = []
  let loose = ''
  const settle = () => {
    if (loose.length > 1) words.push(loose)
    loose = ''
  }
  for (const { segment } of dictionary().segment(run)) {
    const stop = STOP_WORDS.has(segment)
    const joins = segment.length === 1 || (loose !== '' && !HAN.test(segment))
    if (stop || !joins) settle()
    if (stop) continue
    if (!joins) words.push(segment)
    else loose += segment
    if (!HAN.test(segment)) settle()
  }
  settle()
  return words
}

/** A Chinese character carries about as much meaning as three letters. */
function weight(word: string): number {
  return HAN.test(word) ? word.length * 3 : word.length
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}
