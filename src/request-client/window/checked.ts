import type { ZodType, z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';

/** What a page sent, in the shape that it must have. @throws INVALID_REQUEST naming the first member that has not */
export function checked<T extends ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TroupeError('INVALID_REQUEST', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`);
}
