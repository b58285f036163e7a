/** What a remote client may do. Each role may do what those before it may. */
export const ROLES = ['read', 'prompt', 'approve', 'admin'] as const

export type Role = (typeof ROLES)[number]

export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value)
}

/** Whether whoever has the role `held` may do what `needed` may. */
export function includesRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed)
}
