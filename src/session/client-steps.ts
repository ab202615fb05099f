import type { Agent } from '../agent-js/agent.js';
import { type Deferred, deferred } from '../base/deferred.js';
import { decodeError, type ErrorBody, TroupeError } from '../protocol/errors.js';
import type { CallSite } from '../script/host-module.js';

/** Steps that may run at once. WebDriver runs one command at a time. */
const MAX_RUNNING = 16;
const NOWHERE: CallSite = { kind: 'script', flow: null, flowRun: null, line: null, column: null };

/** Steps of clients that act by other means than scripts. They are reported and pictured as steps of scripts are. */
export class ClientSteps {
  readonly #running = new Map<number, Deferred<ErrorBody | null>>();
  #last = 0;

  /** Resolves with the step's number when the client may act. @throws CAPACITY, WORKER_LOST */
  begin(agent: Agent, { method, js }: { readonly method: string; readonly js: string }): Promise<number> {
    if (this.#running.size >= MAX_RUNNING) {
      throw new TroupeError('CAPACITY', `At most ${MAX_RUNNING} steps can run at once; wait for one of them`);
    }
    const step = ++this.#last;
    const ended = deferred<ErrorBody | null>();
    this.#running.set(step, ended);
    return new Promise((resolve, reject) => {
      const call = { method, source: () => js, slug: () => method, shownResult: () => null };
      const body = async (): Promise<object> => {
        resolve(step);
        const error = await ended.promise;
        if (error !== null) throw decodeError(error);
        return {};
      };
      agent.otherStep(call, NOWHERE, body).catch((error: unknown) => {
        this.#running.delete(step);
        // After the step has begun, the error is the step's own, and recorded.
        reject(error);
      });
    });
  }

  end(step: number, error: ErrorBody | null): null {
    this.#running.get(step)?.resolve(error);
    this.#running.delete(step);
    return null;
  }

  /** Ends all steps. Idempotent. */
  close(): void {
    for (const step of [...this.#running.keys()]) this.end(step, null);
  }
}
