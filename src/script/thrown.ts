import { sourceFrame } from '../base/source-frame.js';
import { type ErrorDetails, TroupeError } from '../protocol/errors.js';
import type { Description } from './prelude/engine.js';

/** The same error with more details; its own details take precedence. */
export function withDetails(error: TroupeError, details: ErrorDetails): TroupeError {
  return new TroupeError(error.code, error.message, { ...details, ...error.details });
}

/** The same parse error with the lines of the source around its position. */
export function withFrame(error: TroupeError, source: string): TroupeError {
  const { line, column } = error.details ?? {};
  if (typeof line !== 'number') return error;
  return withDetails(error, { frame: sourceFrame(source, line, typeof column === 'number' ? column : null) });
}

/** SCRIPT_ERROR for a source over its limit. */
export function sourceTooLong(what: string, length: number): TroupeError {
  return new TroupeError('SCRIPT_ERROR', `${what} is longer than ${length} characters`);
}

/** The engine's description of a thrown value; null for text in another form. */
export function readDescription(text: string): Description | null {
  const value: unknown = text === '' ? null : JSON.parse(text);
  return isDescription(value) ? value : null;
}

function isDescription(value: unknown): value is Description {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value && 'flows' in value;
}
