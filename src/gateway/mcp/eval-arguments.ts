import { z } from 'zod';
import { SessionId } from '../../protocol/session.js';

/** The arguments of the tool. Null means absent: some models fill in every argument. */
export const EvalArguments = z.strictObject({ js: z.string(), sessionId: SessionId.nullish() });
