/** What can be checked of a Markdown page without reading it as a person: links, paths, and blocks of code. */
import { posix } from 'node:path'
import { lineOf } from '../architecture/source.ts'

export interface Page {
  readonly path: string
  readonly text: string
}

export interface Block {
  /** `file:line` of the first line inside. */
  readonly at: string
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
}

const fence = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm

export function blocksOf(page: Page): readonly Block[] {
  return [...page.text.matchAll(fence)].map(({ index, 2: language = '', 3: text = '' }) => {
    const line = lineOf(page.text, index) + 1
    return { at: `${page.path}:${line}`, page: page.path, line, language, text }
  })
}

/** `textAt` gives the text of a file or folder of the repository, or undefined when there is none. */
export function deadLinks(page: Page, textAt: (path: string) => string | undefined): readonly string[] {
  const prose = withoutCode(page.text)
  return [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].flatMap(({ index, 1: link = '' }) => {
    if (/^[a-z]+:/.test(link)) return []
    const [file = '', heading] = link.split('#')
    const text = file === '' ? page.text : textAt(posix.join(posix.dirname(page.path), file))
    const at = `${page.path}:${lineOf(prose, index)} links to ${link}`
    if (text === undefined) return [`${at}, which is not there`]
    if (heading !== undefined && !headingsOf(text).includes(heading)) return [`${at}, which has no such heading`]
    return []
  })
}

/** Paths of the repository in backquotes. */
export function deadPaths(page: Page, there: (path: string) => boolean): readonly string[] {
  return [...page.text.matchAll(/`((?:src|test|bench|scripts|docs|bin|examples)\/[\w./-]+)`/g)].flatMap(
    ({ index, 1: path = '' }) =>
      there(path) ? [] : [`${page.path}:${lineOf(page.text, index)} names ${path}, which is not there`],
  )
}

/** Tests that a page says hold something, written `path`: “name” or “group › name”, and that their file does not have. */
export function deadTests(page: Page, textAt: (path: string) => string | undefined): readonly string[] {
  return [...page.text.matchAll(/`([\w./-]+\.test\.ts)`: “([^”]+)”/g)].flatMap(
    ({ index, 1: path = '', 2: name = '' }) =>
      name.split(' › ').every((part) => textAt(path)?.includes(part) === true)
        ? []
        : [`${page.path}:${lineOf(page.text, index)} names a test that ${path} does not have: ${name}`],
  )
}

interface Words {
  readonly scripts: readonly string[]
  /** The words behind `parley`, as far as they may be the names of commands. */
  readonly isCommand: (words: readonly string[]) => boolean
}

/** What a shell block runs of ours: `parley VERB` and the scripts of package.json. */
export function unknownCommands(blocks: readonly Block[], words: Words): readonly string[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, line, text }) =>
      text.split('\n').flatMap((command, offset) => unknownIn(command, words, `${page}:${line + offset}`)),
    )
}

function unknownIn(command: string, words: Words, at: string): readonly string[] {
  const typed = [...command.matchAll(/(?:^|[\s;&|(])parley ([a-z][\w-]*(?: [a-z][\w-]*)*)/g)].map(
    ([, words = '']) => words,
  )
  const scripts = [...command.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
    ([, run, own]) => run ?? own ?? '',
  )
  return [
    ...typed
      .filter((one) => !words.isCommand(one.split(' ')))
      .map((one) => `${at} says parley ${one}, which is not a command`),
    ...scripts
      .filter((script) => !words.scripts.includes(script))
      .map((script) => `${at} says npm run ${script}, which is not a script`),
  ]
}

/** Headings as links name them: lower case, without punctuation, with hyphens for spaces. */
function headingsOf(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}

/** Line numbers stay as they are. */
function withoutCode(text: string): string {
  return text.replaceAll(fence, (block) => block.replaceAll(/[^\n]/g, ' '))
}

const MAX_COLUMNS = 100

/** Prose only: tables, code, pictures and lists of test names are as wide as what stands in them. */
export function longLines({ path, text }: Page): readonly string[] {
  return withoutCode(text)
    .split('\n')
    .flatMap((line, index) =>
      line.trimEnd().length > MAX_COLUMNS && !/^\||^!\[|\.ts/u.test(line)
        ? [`${path}:${index + 1} has ${line.length} columns`]
        : [],
    )
}
