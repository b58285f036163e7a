/** The rules of the configuration and of earlier answers, as sessions take them. */
import { realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { userFile } from '../../config/places.ts'
import { type FoundRule, RuleReader } from '../../config/rules/rule-files.ts'
import { storeRule } from '../../config/rules/rule-store.ts'
import type { Config } from '../../config/schema.ts'
import type { Rule, RuleSet, Rules } from '../../ports/rules.ts'
import { ruleWords } from '../../session/permission/rule-matcher.ts'

export function openRules({ home, environment }: Config, report: (error: unknown) => void): Rules {
  const reader = new RuleReader({ home, environment })
  let reported: string | undefined

  return {
    async rulesFor(roots) {
      const [{ rules, broken }, real, own] = await Promise.all([
        reader.read(roots[0] ?? '/'),
        Promise.all(roots.map(resolved)),
        Promise.all([home, dirname(userFile(environment))].map(resolved)),
      ])
      const active = rules.filter(({ standing }) => standing === 'active').map(ruleOf)
      const linked = await Promise.all(active.map((rule) => throughLinks(rule, real)))
      const sentence = brokenWords(broken)
      if (sentence !== undefined && sentence !== reported) report(new Error(sentence))
      reported = sentence
      return {
        rules: [...active, ...linked.flat()],
        roots: real,
        own,
        ...(sentence !== undefined && { broken: sentence }),
      } satisfies RuleSet
    },
    async remember(cwd, { effect, subject }) {
      storeRule(home, { effect, subject, project: await resolved(cwd) })
    },
  }
}

/** For people: `deny path .env*`. */
export function ruleLine(rule: Pick<Rule, 'effect' | 'subject'>): string {
  return ruleWords(rule)
}

/** What is gone, or nobody may look at, is named as it was given. */
function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

/** A path that a rule denies or asks about may be a link: then the rule holds for what it leads to, too. */
async function throughLinks(rule: Rule, roots: readonly string[]): Promise<readonly Rule[]> {
  const { path } = rule.subject
  if (path === undefined || rule.effect === 'allow') return []
  const parts = path.split('/').filter((part) => part !== '')
  const firstPattern = parts.findIndex((part) => /[*?]/u.test(part))
  const plain = firstPattern < 0 ? parts : parts.slice(0, firstPattern)
  if (plain.length === 0) return []
  const rest = parts.slice(plain.length)
  const found = await Promise.all(roots.map((root) => leadingElsewhere(join(root, ...plain))))
  const ways = found.flatMap((real) => (real === undefined ? [] : roots.map((root) => relative(root, real))))
  return ways.flatMap((way) => {
    const isInside = way !== '' && !way.startsWith('..')
    return isInside ? [{ ...rule, subject: { ...rule.subject, path: `/${[way, ...rest].join('/')}` } }] : []
  })
}

async function leadingElsewhere(path: string): Promise<string | undefined> {
  const real = await resolved(path)
  return real === path ? undefined : real
}

function ruleOf({ effect, subject, ...found }: FoundRule): Rule {
  return { effect, subject, origin: originWords(found) }
}

function originWords({ from, id, project }: Pick<FoundRule, 'from' | 'id' | 'project'>): string {
  if (from === 'user') return 'of your parley.toml'
  if (from === 'project') return 'of the .parley.toml of this project'
  return `${id} of yours, for ${project === null ? 'all projects' : 'this project'}`
}

function brokenWords(broken: readonly string[]): string | undefined {
  return broken.length === 0
    ? undefined
    : `Not all rules of permission can be read, so everything is asked about: ${broken.join('; ')}.`
}
