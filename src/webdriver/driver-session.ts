import { z } from 'zod';
import { deferred } from '../base/deferred.js';
import type { ClosedPorts } from '../net-policy/closed-ports.js';
import { TroupeError } from '../protocol/errors.js';
import type { DebuggerAddress } from '../supervisor/ports/connections.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import type { WantedSession } from './capabilities.js';
import { type Command, stepOf, typesInto } from './command-step.js';
import { DriverProcess } from './driver-process.js';
import { bodyOf, type DriverAnswer, DriverClient } from './driver-request.js';
import { storeUpload } from './uploaded-file.js';
import { lacksWindowManager, withoutWindowManager } from './window-state.js';

/** While a command runs, or chromedriver starts, the session is in use. */
const TOUCH_MS = 500;
/** Longer than any session may run. */
const MAX_SESSION_MS = 90_000_000;

const Created = z.object({
  value: z.object({ sessionId: z.string(), capabilities: z.record(z.string(), z.unknown()) }),
});
const Failed = z.object({ value: z.object({ error: z.string(), message: z.string() }) });
const Value = z.object({ value: z.unknown() });

export interface DriverSessionOptions {
  readonly id: string;
  /** Of chromedriver. */
  readonly path: string;
  readonly wanted: WantedSession;
  readonly sessions: Sessions;
  readonly signal: AbortSignal;
  readonly closedPorts: ClosedPorts;
}

/** A live session with a chromedriver attached to its browser. */
export class DriverSession {
  /** As the client gets them. */
  readonly capabilities: { readonly [name: string]: unknown };
  /** Resolves with the reason when the session or its driver has ended and the driver has been stopped. */
  readonly over: Promise<string>;
  readonly #options: DriverSessionOptions;
  readonly #driver: DriverProcess;
  readonly #address: DebuggerAddress;
  readonly #client: DriverClient;
  /** The id that chromedriver has given. */
  readonly #inner: string;
  readonly #closing = new AbortController();
  readonly #over = deferred<string>();
  #closed: Promise<void> | null = null;

  private constructor(
    options: DriverSessionOptions,
    parts: { driver: DriverProcess; address: DebuggerAddress; client: DriverClient },
    created: z.infer<typeof Created>['value'],
  ) {
    this.#options = options;
    this.#driver = parts.driver;
    this.#address = parts.address;
    this.#client = parts.client;
    this.#inner = created.sessionId;
    this.over = this.#over.promise;
    const { id, wanted, sessions } = options;
    const { 'goog:chromeOptions': _address, webSocketUrl: _url, ...capabilities } = created.capabilities;
    this.capabilities = {
      ...capabilities,
      acceptInsecureCerts: wanted.request.ignoreHTTPSErrors === true,
      'troupe:session': id,
      ...(wanted.ignored.length === 0 ? {} : { 'troupe:ignored': wanted.ignored }),
    };
    void this.#driver.exited.then(() => this.close('its chromedriver has ended'));
    const bounds = { timeoutMs: MAX_SESSION_MS, signal: this.#closing.signal };
    sessions.waitForEnd(id, bounds).then(
      ({ endReason, error }) => this.close(error?.error ?? REASONS[endReason ?? ''] ?? 'it was stopped'),
      () => undefined,
    );
  }

  /** @throws UNAVAILABLE if chromedriver cannot be attached; it is stopped then */
  static async open(options: DriverSessionOptions): Promise<DriverSession> {
    return whileInUse(options, () => DriverSession.#open(options));
  }

  static async #open(options: DriverSessionOptions): Promise<DriverSession> {
    const { path, wanted, signal, closedPorts } = options;
    const driver = await DriverProcess.start(path, closedPorts, signal);
    const client = new DriverClient(driver.port);
    let address: DebuggerAddress | null = null;
    try {
      address = await openAddress(options, driver.pid);
      const chromeOptions = { ...wanted.chromeOptions, debuggerAddress: `127.0.0.1:${address.port}` };
      const alwaysMatch = { ...wanted.driver, browserName: 'chrome', 'goog:chromeOptions': chromeOptions };
      const stop = (): void => void driver.stop();
      signal.addEventListener('abort', stop);
      const body = JSON.stringify({ capabilities: { alwaysMatch } });
      const answer = await client
        .send('POST', '/session', body)
        .finally(() => signal.removeEventListener('abort', stop));
      const created = Created.safeParse(bodyOf(answer));
      if (!created.success) throw refusedByDriver(answer);
      return new DriverSession(options, { driver, address, client }, created.data.value);
    } catch (error) {
      client.close();
      await Promise.all([driver.stop(), address?.close()]);
      throw error;
    }
  }

  /** @param raw the body as the client wrote it @throws WORKER_LOST */
  async command(command: Command, raw: string | null): Promise<DriverAnswer> {
    return whileInUse(this.#options, () => this.#command(command, raw));
  }

  /** @throws INVALID_REQUEST unless the body has a zip with one file */
  upload(body: Command['body'], sessions: Sessions): Promise<string> {
    sessions.connections.touch(this.#options.id);
    return storeUpload(this.#options.id, body, sessions);
  }

  /** Stops the driver; the session itself goes on. Idempotent: the first reason stays. */
  close(reason: string): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  async #close(reason: string): Promise<void> {
    this.#closing.abort(new TroupeError('SESSION_ENDED', `The session has ended: ${reason}`));
    await Promise.all([this.#driver.stop(), this.#address.close()]);
    this.#client.close();
    this.#over.resolve(reason);
  }

  async #command(command: Command, raw: string | null): Promise<DriverAnswer> {
    const { id, sessions } = this.#options;
    const step = stepOf(command, await this.#isSecret(command));
    const end = step === null ? null : await sessions.connections.beginStep(id, step, this.#closing.signal);
    try {
      let answer = await this.#send(command, raw);
      if (lacksWindowManager(command, answer)) {
        answer = await withoutWindowManager(command, answer, (next, body) => this.#send(next, body));
      }
      end?.(answer.status < 400 ? null : stepError(answer));
      return answer;
    } catch (error) {
      end?.({ code: 'WORKER_LOST', error: 'The session has ended' });
      throw error;
    }
  }

  #send({ method, path }: Pick<Command, 'method' | 'path'>, raw: string | null): Promise<DriverAnswer> {
    return this.#client.send(method, `/session/${this.#inner}${path === '' ? '' : `/${path}`}`, raw);
  }

  /** What is typed into a password field, or one that cannot be asked, is not shown. */
  async #isSecret(command: Command): Promise<boolean> {
    const element = typesInto(command);
    if (element === null) return false;
    const answer = await this.#send({ method: 'GET', path: `element/${element}/property/type` }, null);
    const value = Value.safeParse(bodyOf(answer));
    return answer.status !== 200 || !value.success || value.data.value === 'password';
  }
}

/** The idle timeout of the session begins anew when `work` has settled. */
async function whileInUse<T>(
  { id, sessions }: Pick<DriverSessionOptions, 'id' | 'sessions'>,
  work: () => Promise<T>,
): Promise<T> {
  const touch = (): void => sessions.connections.touch(id);
  touch();
  const touching = setInterval(touch, TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    touch();
  }
}

/** Nobody knows the port before it is in the table, and the listener refuses every process but the driver. */
async function openAddress({ id, sessions, closedPorts }: DriverSessionOptions, pid: number): Promise<DebuggerAddress> {
  const { port, close } = await sessions.connections.openDebugger(id, pid);
  closedPorts.add(port);
  return {
    port,
    async close() {
      await close();
      closedPorts.delete(port);
    },
  };
}

const REASONS: { readonly [reason: string]: string } = {
  idle: 'it was not used for its idleTimeout',
  hard: 'it reached its hardTimeout',
  deleted: 'it was stopped',
  lost: 'it lost its browser',
  shutdown: 'the service was stopped',
};

function refusedByDriver(answer: DriverAnswer): TroupeError {
  const failed = Failed.safeParse(bodyOf(answer));
  const why = failed.success ? failed.data.value.message : answer.text.slice(0, 500);
  return new TroupeError('UNAVAILABLE', `chromedriver cannot attach to the browser of the session: ${why}`);
}

function stepError(answer: DriverAnswer) {
  const failed = Failed.safeParse(bodyOf(answer));
  const { error, message } = failed.success ? failed.data.value : { error: 'unknown error', message: '' };
  const [line = ''] = message.split('\n');
  return { code: 'ACTION_FAILED', error: line.startsWith(error) ? line : `${error}: ${line}` } as const;
}
