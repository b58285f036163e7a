/** The words after a verb: as many as it takes, and none of them empty. */
import { fail } from '../../../errors/parley-error.ts'

type Words<Names extends readonly string[]> = { readonly [Index in keyof Names]: string }

export function words<const Names extends readonly string[]>(args: readonly string[], names: Names): Words<Names> {
  const wrong = names.find((_, i) => (args[i] ?? '') === '')
  if (wrong !== undefined)
    fail('CONFIG_INVALID', { key: wrong, value: 'absent', reason: `give ${names.join(' and ')}` })
  const more = args[names.length]
  if (more !== undefined) {
    fail('CONFIG_INVALID', {
      key: 'words',
      value: JSON.stringify(more),
      reason: `only ${names.join(' and ') || 'none'} may follow`,
    })
  }
  return args as unknown as Words<Names>
}
