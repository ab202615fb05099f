import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { SessionId } from '../../protocol/session.js';
import { EVAL_TOOL } from './eval-tool.js';

/** The arguments of the tool. Null means absent: some models fill in every argument. */
const EvalArguments = z.strictObject({ js: z.string(), sessionId: SessionId.nullish() });

/** What a call of the tool asks for; `sessionId` is null for a browser of the client's own. */
export interface EvalCall {
  readonly js: string;
  readonly sessionId: SessionId | null;
}

/** @throws ProtocolError for any other tool */
export function checkToolName(name: string): void {
  if (name === EVAL_TOOL.name) return;
  const sentence = `There is no tool ${name.slice(0, 100)}; use ${EVAL_TOOL.name}`;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
}

/** @throws INVALID_REQUEST for arguments that do not fit */
export function readEvalCall(given: unknown): EvalCall {
  const parsed = EvalArguments.safeParse(given);
  if (parsed.success) return { js: parsed.data.js, sessionId: parsed.data.sessionId ?? null };
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
  throw new TroupeError('INVALID_REQUEST', issues.join('; '));
}
