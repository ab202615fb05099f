import { type ActorContext, type Behaviour, type Handlers, later } from '../../actors/actor.js';
import type { CdpEvent } from '../../agent-js/browser/cdp.js';
import { stretched } from '../../base/deadline.js';
import { sentenceOf } from '../../base/system-fault.js';
import { TroupeError } from '../../protocol/errors.js';
import { readBundle } from '../../script/bundle.js';
import { CdpConnection } from '../connection/cdp-connection.js';
import { DevToolsChannel } from '../connection/devtools-channel.js';
import type { VideoEncoderArgs, VideoEncoderMessages } from './messages.js';
import { type CallEncoder, Recording } from './recording.js';

/** Encoders exist only in secure contexts. Every request of the pages is answered here, so this host is never looked up. */
const ADDRESS = 'https://encoder.invalid/';
const DOCUMENT = Buffer.from('<!doctype html><title>Encoder</title>').toString('base64');
const POLICY = { name: 'Content-Security-Policy', value: "default-src 'none'" };
const ENCODER_SOURCE = `(${readBundle(import.meta.url, './page/encoder')})()`;
const CALL = `async function (method, json) { return JSON.stringify(await this[method](...JSON.parse(json))); }`;
const OPEN_MS = stretched(10_000);
const CALL_MS = stretched(10_000);

interface OpenRecording {
  readonly recording: Recording;
  readonly context: string;
}

/** Encodes the videos of all sessions, each in a page and a browser context of its own. */
export class VideoEncoderBehaviour implements Behaviour<VideoEncoderMessages> {
  readonly #args: VideoEncoderArgs;
  readonly #context: ActorContext<never>;
  readonly #closing = new AbortController();
  readonly #recordings = new Map<number, OpenRecording>();
  #channel: DevToolsChannel | undefined;
  #connection: CdpConnection | undefined;
  #count = 0;

  constructor(args: VideoEncoderArgs, context: ActorContext<never>) {
    this.#args = args;
    this.#context = context;
  }

  readonly handlers: Handlers<VideoEncoderMessages> = {
    Open: ({ timeoutMs }) => this.#open(timeoutMs),
    Begin: () => later(this.#begin()),
    Encode: ({ recording, ...picture }) => later(this.#of(recording, (one) => one.encode(picture))),
    Hold: ({ recording, atMs }) => later(this.#of(recording, (one) => one.hold(atMs))),
    End: ({ recording, atMs }) =>
      later(this.#of(recording, (one) => one.end(atMs)).finally(() => this.#close(recording))),
    Abandon: ({ recording }) => {
      this.#close(recording);
      return null;
    },
  };

  async stopped(): Promise<void> {
    this.#closing.abort(new TroupeError('UNAVAILABLE', 'The video encoder is stopping'));
    this.#recordings.clear();
    this.#connection?.close();
    await this.#channel?.close();
  }

  async #open(timeoutMs: number): Promise<null> {
    const bounds = { signal: this.#closing.signal, deadlineMs: timeoutMs };
    const channel = await DevToolsChannel.open(this.#args.devTools, bounds);
    this.#channel = channel;
    const connection = await CdpConnection.open(channel, bounds);
    this.#connection = connection;
    connection.listen((event) => this.#observe(event));
    void connection.closed.then(({ error }) => {
      if (!this.#closing.signal.aborted) this.#context.crash(error);
    });
    return null;
  }

  async #begin(): Promise<number> {
    const connection = this.#opened();
    const { browserContextId: context } = await connection.send('Target.createBrowserContext', {});
    try {
      const { targetId } = await connection.send('Target.createTarget', {
        url: 'about:blank',
        browserContextId: context,
      });
      const { sessionId: session } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
      await connection.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, { session });
      await connection.send('Page.enable', {}, { session });
      await this.#navigate(connection, session);
      const evaluated = await connection.send('Runtime.evaluate', { expression: ENCODER_SOURCE }, { session });
      const { objectId } = evaluated.result;
      if (objectId === undefined) throw new TroupeError('UNAVAILABLE', 'The browser cannot encode videos');
      const call: CallEncoder = async (method, args) => {
        const answer = await connection.send(
          'Runtime.callFunctionOn',
          {
            functionDeclaration: CALL,
            objectId,
            arguments: [{ value: method }, { value: JSON.stringify(args) }],
            awaitPromise: true,
            returnByValue: true,
          },
          { session, timeoutMs: CALL_MS },
        );
        const failed = answer.exceptionDetails;
        if (failed !== undefined) throw new Error(failed.exception?.description?.split('\n')[0] ?? failed.text);
        return JSON.parse(String(answer.result.value));
      };
      this.#count += 1;
      this.#recordings.set(this.#count, { recording: new Recording(call), context });
      return this.#count;
    } catch (error) {
      this.#dispose(context);
      throw error;
    }
  }

  /** Settles when the document is there. */
  #navigate(connection: CdpConnection, session: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopListening = connection.listen((event) => {
        if (event.session === session && event.method === 'Page.loadEventFired') done();
      });
      const timer = setTimeout(() => done(new TroupeError('UNAVAILABLE', 'The video encoder did not open')), OPEN_MS);
      const done = (error?: unknown): void => {
        clearTimeout(timer);
        stopListening();
        if (error === undefined) resolve();
        else reject(error);
      };
      connection.send('Page.navigate', { url: ADDRESS }, { session }).catch(done);
    });
  }

  /** Every request is answered with the empty document. */
  #observe(event: CdpEvent): void {
    if (event.method !== 'Fetch.requestPaused' || event.session === undefined) return;
    const { requestId } = event.params;
    const answer = { requestId, responseCode: 200, responseHeaders: [POLICY], body: DOCUMENT };
    this.#connection?.send('Fetch.fulfillRequest', answer, { session: event.session }).catch(() => undefined);
  }

  /** @throws UNAVAILABLE; the recording has ended then */
  async #of(number: number, work: (recording: Recording) => Promise<Buffer>): Promise<Uint8Array> {
    const open = this.#recordings.get(number);
    if (open === undefined) throw new TroupeError('UNAVAILABLE', 'The recording has ended');
    try {
      return await work(open.recording);
    } catch (error) {
      this.#close(number);
      throw new TroupeError('UNAVAILABLE', `A frame could not be encoded: ${sentenceOf(error)}`, undefined, {
        cause: error,
      });
    }
  }

  #close(number: number): void {
    const open = this.#recordings.get(number);
    this.#recordings.delete(number);
    if (open !== undefined) this.#dispose(open.context);
  }

  /** Closes the page, too. */
  #dispose(context: string): void {
    this.#connection?.send('Target.disposeBrowserContext', { browserContextId: context }).catch(() => undefined);
  }

  #opened(): CdpConnection {
    if (this.#connection === undefined) throw new TroupeError('UNAVAILABLE', 'The video encoder is not open');
    return this.#connection;
  }
}
