import { encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostCallContext, HostModule } from './host-module.js';
import type { Answer } from './prelude/engine.js';
import type { CallMessage } from './script-messages.js';

/**
 * Makes one host call and returns its answer as text. Never rejects: an error becomes an answer with its code and
 * details, and so does a result of more than `maxLength` characters.
 */
export async function answerCall(
  modules: ReadonlyMap<string, HostModule>,
  message: CallMessage,
  context: HostCallContext,
  maxLength: number,
): Promise<string> {
  // A call without a target only waits until everything before it has arrived.
  if (message.target === '') return answerText({ ok: true });
  try {
    const args: unknown = JSON.parse(message.args);
    const call = callOf(modules, message.target);
    if (!Array.isArray(args)) throw new TroupeError('INTERNAL', 'A host call has no arguments');
    const text = answerText({ ok: true, value: await call(args, context) });
    if (text.length <= maxLength) return text;
    throw new TroupeError('SCRIPT_ERROR', `${message.target} returned more than ${maxLength} characters; ask for less`);
  } catch (error) {
    const { error: sentence, code, details } = encodeError(error);
    const answer = { ok: false, error: sentence, code } as const;
    try {
      return answerText(details === undefined ? answer : { ...answer, details });
    } catch {
      // Details that are not JSON are dropped, so that the error itself is reported.
      return answerText(answer);
    }
  }
}

function answerText(answer: Answer): string {
  return JSON.stringify(answer);
}

function callOf(modules: ReadonlyMap<string, HostModule>, target: string): HostCall {
  const dot = target.indexOf('.');
  const calls = modules.get(target.slice(0, dot))?.calls;
  const method = target.slice(dot + 1);
  const call = calls !== undefined && Object.hasOwn(calls, method) ? calls[method] : undefined;
  if (call === undefined) throw new TroupeError('INTERNAL', `There is no host call ${target}`);
  return call;
}
