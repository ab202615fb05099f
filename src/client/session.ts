import type { CallOptions } from './connection.js';
import { type Returned, type SessionFunction, scriptSource } from './script-source.js';
import { SessionHandle } from './session-handle.js';

/** By default a script has a minute, and before it up to 64 others run. */
const SCRIPT_MS = 300_000;

/** A live session: a browser that runs scripts. */
export class Session extends SessionHandle {
  /**
   * Runs a script of agent JS and returns the value of its last expression, or of the function. A script is sent again only
   * if the service says that it was not run.
   *
   *     await session.run('agent.go("https://example.com"); agent.look().elements')
   *     await session.run(({ name }) => agent.text(name), { name: 'h1' })
   *
   * @param args JSON: the function's argument, or `args` in a script that is text
   * @throws TroupeError: SCRIPT_ERROR, LOCATOR_NOT_FOUND, MATCH_FAILED and others, with `details.line`
   */
  run<R = unknown>(script: string, args?: unknown, options?: CallOptions): Promise<R>;
  run<A, R>(script: SessionFunction<A, R>, args?: A, options?: CallOptions): Promise<Returned<Awaited<R>>>;
  async run<R>(script: string | SessionFunction<unknown, R>, args?: unknown, options: CallOptions = {}): Promise<R> {
    const body = { js: scriptSource(script, args) };
    const path = `/sessions/${encodeURIComponent(this.id)}/proxy`;
    const call = { timeoutMs: SCRIPT_MS, ...options, body, retry: 'refused' } as const;
    // What a script returns only its author knows.
    return (await this.connection.json('POST', path, call)) as R;
  }

  /** A picture that a script took, by the `file` that `agent.screenshot()` returned. */
  screenshot(file: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.connection.bytes(`${this.path}/screenshots/${encodeURIComponent(file)}`, options);
  }
}
