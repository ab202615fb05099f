import type { ZodType, z } from 'zod';
import { TroupeError } from '#troupe/protocol/errors.js';

/** Validates what a page sent. @throws INVALID_REQUEST naming the first invalid member */
export function checked<T extends ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TroupeError('INVALID_REQUEST', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`);
}
