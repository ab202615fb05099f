import { z } from 'zod';

/** The name of a saved login state: safe in a path. */
export const StateName = z.string().regex(/^[\w-][\w.-]{0,99}$/, '1 to 100 letters, digits, and _ . -');

/** How long a saved login state can be used, in seconds, unless it was saved with another time. */
export const STATE_SECONDS = 24 * 3600;
export const MAX_STATE_SECONDS = 30 * 24 * 3600;

/** A saved login state without what is in it: `GET /api/states`. Instants are ISO 8601 in UTC. */
export const LoginState = z.object({
  name: StateName,
  /** The id of the token that saved it; null if it was saved without one of `troupe token create`. */
  token: z.string().nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** How many cookies it has. */
  cookies: z.int(),
  /** The origins whose local storage it has. */
  origins: z.array(z.string()),
});
export type LoginState = z.infer<typeof LoginState>;

/** `DELETE /api/states/{name}`. */
export const RemovedState = z.object({ name: StateName, removed: z.int() });
export type RemovedState = z.infer<typeof RemovedState>;

/** Cookies and local storage, in the format of Playwright's `storageState()`. */
export interface StorageState {
  readonly cookies: readonly { readonly [member: string]: unknown }[];
  readonly origins: readonly {
    readonly origin: string;
    readonly localStorage: readonly { readonly name: string; readonly value: string }[];
  }[];
}
