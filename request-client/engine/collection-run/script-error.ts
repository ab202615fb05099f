import { sourceFrame } from '#troupe/base/source-frame.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { checkAsyncBody } from '#troupe/script/source/source-step.js';

/** A script as its author wrote it, and what stands before it where it runs. */
interface Written {
  /** Such as `After of Log in`. */
  readonly name: string;
  readonly source: string;
  readonly opening: string;
}

/** The error of a script with the place in it that its author knows; other errors as they are. */
export function scriptError(error: unknown, written: Written): unknown {
  if (!(error instanceof TroupeError) || error.code !== 'SCRIPT_ERROR') return error;
  return error.message.startsWith('SyntaxError') ? syntaxError(error, written) : located(error, written);
}

function syntaxError(error: TroupeError, written: Written): TroupeError {
  try {
    checkAsyncBody(written.source);
  } catch (own) {
    // What stands before the script is not part of what was parsed here.
    return own instanceof TroupeError ? located(own, { ...written, opening: '' }) : error;
  }
  return error;
}

function located({ code, message, details = {} }: TroupeError, { name, source, opening }: Written): TroupeError {
  const { line, column } = details;
  if (typeof line !== 'number') return new TroupeError(code, `${name}: ${message}`, details);
  const before = line === 1 ? opening.length : 0;
  const at = typeof column === 'number' ? Math.max(1, column - before) : null;
  const frame = sourceFrame(source, line, at);
  const place = { name, line, ...(at === null ? {} : { column: at }), frame };
  return new TroupeError(code, `${name}, line ${line}: ${message}`, { ...details, ...place });
}
