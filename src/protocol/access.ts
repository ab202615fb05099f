import { z } from 'zod';

/**
 * What a token allows. `view` looks at everything; `run` also starts, drives and removes sessions; `admin` also makes
 * and revokes tokens.
 */
export const Role = z.enum(['view', 'run', 'admin']);
export type Role = z.infer<typeof Role>;
