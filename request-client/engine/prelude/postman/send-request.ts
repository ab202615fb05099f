import { postmanHeaders, type ResponseState } from '../response-view.js';
import type { Sdk } from './libraries.js';
import type { Timers } from './timers.js';

type Done = (error: unknown, response: unknown, history?: unknown) => void;

/**
 * `pm.sendRequest`. The request is complete when the call returns. A callback is called when the script has nothing else to
 * do, as in Postman; without one, the value is the response, which may be awaited.
 */
export function makeSendRequest(sdk: Sdk, timers: Timers, send: (wanted: unknown) => unknown) {
  return (wanted: unknown, done?: unknown): unknown => {
    const callback = typeof done === 'function' ? (done as Done) : null;
    const answer = wanted ? exchange(sdk, wanted, send) : { error: new Error('sendrequest: nothing to request') };
    if (callback !== null) {
      timers.later(() => callback(answer.error ?? null, answer.response ?? new sdk.Response()));
      return undefined;
    }
    return awaitable(answer, timers);
  };
}

interface Exchange {
  readonly error?: Error;
  readonly response?: object;
}

function exchange(sdk: Sdk, wanted: unknown, send: (wanted: unknown) => unknown): Exchange {
  const request = sdk.Request.isRequest(wanted) ? wanted : new sdk.Request(wanted);
  const answer = send(JSON.parse(JSON.stringify(request))) as { error?: string; response?: ResponseState };
  if (answer.response === undefined) return { error: new Error(answer.error ?? 'no answer') };
  const { status, statusText, text, bytes, durationMs } = answer.response;
  const response = new sdk.Response({
    code: status,
    status: statusText,
    header: postmanHeaders(answer.response),
    body: text ?? '',
    responseTime: Math.round(durationMs),
  });
  return { response: Object.assign(response, { responseSize: bytes }) };
}

/** The response itself, which `await` accepts too; without one a rejection, which the script reports if nobody takes it. */
function awaitable({ error, response }: Exchange, timers: Timers): unknown {
  const settled = response === undefined ? Promise.reject(error) : Promise.resolve(response);
  let taken = response !== undefined;
  settled.catch(() => undefined);
  if (!taken) {
    timers.later(() => {
      if (!taken) throw error;
    });
  }
  return new Proxy(response ?? {}, {
    get(target, name) {
      if (name !== 'then' && name !== 'catch' && name !== 'finally') return Reflect.get(target, name);
      taken = true;
      return settled[name].bind(settled);
    },
  });
}
