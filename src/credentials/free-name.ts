/** A name that none of `among` has: beside a "phone" that is "phone 2", or with another `join` "phone-2". */
export function freeName(
  wanted: string,
  { among, join }: { readonly among: readonly { readonly name: string }[]; readonly join: ' ' | '-' },
): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted.slice(0, 58)}${join}${number}`
    if (!among.some((one) => one.name === name)) return name
  }
}
