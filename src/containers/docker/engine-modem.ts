import { Agent, IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import type { DialOptions, RequestCallback } from 'docker-modem';
import type { DockerOptions } from 'dockerode';
import { onAbort, startLimit, withDeadline } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { Docker, Modem } from './dockerode.js';
import { engineFault, engineRefusal, refusalStatus, whyNoAnswer } from './engine-fault.js';

/** What bounds every call of a {@link openDocker}. */
export interface ModemBounds {
  readonly socketPath: string;
  /** As `1.41`; undefined for the engine's own. */
  readonly version: string | undefined;
  /** A whole call; of a stream, the time until its answer begins. Milliseconds. */
  readonly deadlineMs: number;
  /** Ends calls and streams, which fail with its reason then. */
  readonly signal: AbortSignal | undefined;
  /** Called after a failure that another engine may explain: no connection, or a request that it rejects. */
  readonly onStrange: () => void;
}

/** The longest answer that is kept whole: a listing of a thousand containers is 2 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const BAD_REQUEST = 400;
/** docker-modem turns a status that it does not expect into a text; here the engine's own words are wanted. */
const EVERY_STATUS = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [100 + index, true]));

/** Every call is a connection of its own: none meets one that the engine has closed meanwhile. */
class OneCall extends Agent {
  /** docker-modem renders what it sends for its debug log, whether or not anybody reads it. */
  [inspect.custom](): string {
    return 'OneCall';
  }
}

const agent = new OneCall({ keepAlive: false });

/** dockerode for an engine, with calls that end by a deadline or a signal and fail as {@link TroupeError}. */
export function openDocker(bounds: ModemBounds): Docker {
  const options: DockerOptions & { modem: Modem } = { modem: new EngineModem(bounds) };
  return new Docker(options);
}

/** docker-modem, which alone would wait for an answer for ever, and keep any length of one. */
class EngineModem extends Modem {
  readonly #bounds: ModemBounds;

  constructor(bounds: ModemBounds) {
    const { socketPath, version } = bounds;
    // An empty host: DOCKER_HOST does not decide here, the configuration does.
    super({
      socketPath,
      host: '',
      protocol: 'http',
      agent,
      version: version === undefined ? undefined : `v${version}`,
    });
    this.#bounds = bounds;
  }

  override dial(options: DialOptions, callback: RequestCallback = () => undefined): void {
    void this.#answer(options).then(
      (answer) => callback(null, answer),
      (error: Error) => callback(error, null),
    );
  }

  async #answer(options: DialOptions): Promise<object> {
    const { socketPath, deadlineMs, signal, onStrange } = this.#bounds;
    const call = `${options.method} ${options.path.replace(/\?$/, '')}`;
    const cut = new AbortController();
    const asked = [signal, options.abortSignal].filter((one) => one !== undefined);
    const offs = asked.map((one) => onAbort(one, () => cut.abort(one.reason)));
    const forget = (): void => {
      for (const off of offs) off();
    };
    let begun = false;
    const cancelTimer = startLimit(deadlineMs, () => {
      const late = begun ? 'its answer did not end in time' : `no answer within ${Math.round(deadlineMs)} ms`;
      cut.abort(engineFault(socketPath, `${late} (${call})`));
    });
    try {
      cut.signal.throwIfAborted();
      const response = await withDeadline(this.#begin(options, cut.signal), { signal: cut.signal });
      begun = true;
      const status = response.statusCode ?? 0;
      const isFine = options.statusCodes?.[status] === true;
      if (isFine && options.isStream === true) {
        response.once('close', forget);
        return response;
      }
      const body = await bodyOf(response, cut.signal);
      forget();
      if (isFine) return parsed(body);
      throw engineRefusal(socketPath, call, wordsOf(body), status);
    } catch (cause) {
      forget();
      if (cut.signal.aborted) throw cut.signal.reason;
      const status = refusalStatus(cause);
      if (status === null || status === BAD_REQUEST) onStrange();
      throw cause instanceof TroupeError ? cause : engineFault(socketPath, `${whyNoAnswer(cause)} (${call})`, cause);
    } finally {
      cancelTimer();
    }
  }

  #begin(options: DialOptions, abortSignal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const order = { ...options, abortSignal, isStream: true, statusCodes: EVERY_STATUS };
      super.dial(order, (error, answer) => {
        if (error !== null) reject(error);
        else if (answer instanceof IncomingMessage) resolve(answer);
        else reject(new Error('its response is not HTTP'));
      });
    });
  }
}

async function bodyOf(response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const off = onAbort(signal, () => response.destroy());
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw new TroupeError('UNAVAILABLE', 'The Docker engine sent an endless response');
      chunks.push(chunk);
    }
    signal.throwIfAborted();
    return Buffer.concat(chunks);
  } finally {
    off();
  }
}

/** JSON as its value, and anything else as it is: so does docker-modem. */
function parsed(body: Buffer): object {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return Object(value);
  } catch {
    return body;
  }
}

/** The message of a refusal. */
function wordsOf(body: Buffer): string {
  const said = parsed(body);
  const message: unknown = Reflect.get(said, 'message');
  return typeof message === 'string' ? message : body.toString('utf8').trim().slice(0, 500);
}
