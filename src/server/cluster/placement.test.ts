/** Which node suits a session, and which of several gets it. */
import { describe, expect, test } from 'vitest'
import { type NodePurpose, type Wish, lessBusy, suits, wished } from './placement.ts'

const builder: NodePurpose = { name: 'build-1', serves: ['/work', '/srv/*/src'], labels: { gpu: 'yes', os: 'linux' } }
test.each<{ readonly what: string; readonly is: boolean; readonly node?: NodePurpose; readonly wish: Wish }>([
  { what: 'of a directory that it serves', is: true, wish: { cwd: '/work' } },
  { what: 'below one', is: true, wish: { cwd: '/work/a/b' } },
  { what: 'of a pattern of directories', is: true, wish: { cwd: '/srv/one/src/lib' } },
  { what: 'not of another one', is: false, wish: { cwd: '/srv/one' } },
  { what: 'not of one that only begins like it', is: false, wish: { cwd: '/workshop' } },
  { what: 'of any directory, where it names none', is: true, node: { name: 'any' }, wish: { cwd: '/anything' } },
  { what: 'that asks for labels of it', is: true, wish: { cwd: '/work', labels: { gpu: 'yes', os: 'linux' } } },
  { what: 'not if it lacks one of them', is: false, wish: { cwd: '/work', labels: { gpu: 'yes', os: 'mac' } } },
  {
    what: 'not if it has no labels',
    is: false,
    node: { name: 'any' },
    wish: { cwd: '/work', labels: { gpu: 'yes' } },
  },
  { what: 'that asks for it by name', is: true, wish: { cwd: '/work', node: 'build-1' } },
  { what: 'not one that asks for another', is: false, wish: { cwd: '/work', node: 'build-2' } },
  { what: 'not of a directory of others, by name neither', is: false, wish: { cwd: '/home', node: 'build-1' } },
])('a node suits a session $what', ({ is, node = builder, wish }) => {
  expect(suits(node, wish)).toBe(is)
})

describe('of two nodes that are drawn', () => {
  const node = (name: string, working: number, sessions: number) => {
    return { name, address: 'ws://127.0.0.1:1', isDraining: false, working, sessions }
  }

  test('the one with fewer sessions at work gets the session, and of equals the one with fewer sessions', () => {
    const [calm, busy, full] = [node('calm', 1, 9), node('busy', 2, 2), node('full', 1, 12)]
    const drawn = (nodes: readonly ReturnType<typeof node>[]) => {
      const all = nodes.flatMap((_one, first) => nodes.slice(1).map((_other, second) => [first, second]))
      return new Set(all.map((draws) => lessBusy(nodes, () => draws.shift() ?? 0)?.name))
    }
    expect(drawn([calm, busy])).toEqual(new Set(['calm']))
    expect(drawn([full, calm])).toEqual(new Set(['calm']))
    // One of three that is the worst of all is never the better of two.
    expect(drawn([calm, busy, full])).toEqual(new Set(['calm', 'full']))
  })

  test('one alone gets it, and of none none does', () => {
    expect(lessBusy([node('only', 5, 5)], () => 0)?.name).toBe('only')
    expect(lessBusy([], () => 0)).toBeUndefined()
  })
})

test('what was wanted stands in the sentence', () => {
  const wish = { cwd: '/work', labels: { gpu: 'yes' }, node: 'build-1' }
  expect(wished(wish)).toBe('/work with gpu=yes and is called build-1')
})
