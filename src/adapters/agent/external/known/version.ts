/** Compares versions as programs write them: `1.2.3`, `v22.19.0`, `1.2.3-beta.1`. */

/** Below zero if `a` is older. A version with a hyphen is older than the same without; what is no version is oldest. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (const index of [0, 1, 2]) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.pre === right.pre) return 0
  if (left.pre === '' || right.pre === '') return left.pre === '' ? 1 : -1
  return left.pre < right.pre ? -1 : 1
}

/** `1.2.3`, perhaps with more behind a hyphen or a plus: what an installed copy can be held to. */
export function isExactVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/u.test(text)
}

/** Of a Python package or an archive: also `1.2`, `1.2.3rc1` and `1!2.0`. As the name of a folder it leads nowhere else. */
export function isVersion(text: string): boolean {
  return /^v?\d[\w.+!-]*$/u.test(text)
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly pre: string } {
  const [, core = '', pre = ''] = /^v?(\d+(?:\.\d+)*)(?:-([^+]*))?/u.exec(version.trim()) ?? []
  return { numbers: core === '' ? [-1] : core.split('.').map(Number), pre }
}
