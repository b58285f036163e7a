/** What a remote client may do. Each role may do what those before it may. */
export const ROLES = ['read', 'prompt', 'approve', 'admin'] as const

export type Role = (typeof ROLES)[number]

export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value)
}
