import { z } from 'zod';

/**
 * What a token allows. `view` reads everything; `run` also starts, controls, and removes sessions; `admin` also creates
 * and revokes tokens.
 */
export const Role = z.enum(['view', 'run', 'admin']);
export type Role = z.infer<typeof Role>;

/** Whether a role includes another. */
export function includesRole(held: Role, wanted: Role): boolean {
  return Role.options.indexOf(held) >= Role.options.indexOf(wanted);
}

/** The limits of a token; omitted ones are unlimited. */
export const TokenLimits = z.strictObject({
  /** Sessions that run at once. */
  running: z.int().min(1).max(10_000).optional(),
  /** Queued jobs. */
  queued: z.int().min(0).max(10_000_000).optional(),
  /** Sessions and jobs that are started per minute. */
  perMinute: z.int().min(1).max(1_000_000).optional(),
});
export type TokenLimits = z.infer<typeof TokenLimits>;

/** An access token's id, which reveals nothing about the token. */
export const TokenId = z.string().regex(/^[a-z0-9]{12}$/);

/** `POST /api/tokens`. */
export const TokenRequest = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, 'no control characters'),
  role: Role,
  limits: TokenLimits.optional(),
});
export type TokenRequest = z.infer<typeof TokenRequest>;

/** An access token, without its secret. */
export const TokenInfo = z.object({
  id: TokenId,
  name: z.string(),
  role: Role,
  limits: z.object(TokenLimits.shape),
  createdAt: z.iso.datetime(),
});
export type TokenInfo = z.infer<typeof TokenInfo>;

/** The only response that contains the token itself. */
export const CreatedToken = TokenInfo.extend({ token: z.string() });
export type CreatedToken = z.infer<typeof CreatedToken>;

/** `DELETE /api/tokens/{id}`. */
export const RevokedToken = z.object({ id: TokenId, revoked: z.literal(true) });
