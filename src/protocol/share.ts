import { z } from 'zod';

/** `POST /api/sessions/{id}/links`. `expiresIn` is in seconds: a day by default, 30 days at most. */
export const ShareRequest = z.strictObject({ expiresIn: z.int().min(1).max(2_592_000).optional() });

/** Its response. `link` is the last part of `url`. */
export const ShareLink = z.object({ url: z.string(), link: z.string(), expiresAt: z.iso.datetime() });
export type ShareLink = z.infer<typeof ShareLink>;
