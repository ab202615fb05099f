import { encodeError, TroupeError } from '../protocol/errors.js';
import type { HostCall, HostCallContext, HostModule } from './host-module.js';
import type { Answer } from './prelude/engine.js';
import type { CallMessage } from './script-messages.js';

/**
 * Makes one host call and gives the text of its answer. Never rejects: an error is an answer too, with its code and
 * details, and so is a result of more than `maxLength` characters.
 */
export async function answerCall(
  modules: ReadonlyMap<string, HostModule>,
  message: CallMessage,
  context: HostCallContext,
  maxLength: number,
): Promise<string> {
  // A call to nobody only asks whether everything before it has arrived.
  if (message.target === '') return answerText({ ok: true });
  try {
    const args: unknown = JSON.parse(message.args);
    const call = callOf(modules, message.target);
    if (!Array.isArray(args)) throw new TroupeError('INTERNAL', 'A host call came without arguments');
    const text = answerText({ ok: true, value: await call(args, context) });
    if (text.length <= maxLength) return text;
    throw new TroupeError('SCRIPT_ERROR', `${message.target} answers with more than ${maxLength} characters`);
  } catch (error) {
    const { error: sentence, code, details } = encodeError(error);
    const answer = { ok: false, error: sentence, code } as const;
    try {
      return answerText(details === undefined ? answer : { ...answer, details });
    } catch {
      // Details that are no JSON are a fault of the call, and no reason to lose its error.
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
