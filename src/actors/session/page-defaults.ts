import type { CdpEvent, CdpMethod, CdpParams } from '../../agent-js/browser/cdp.js';
import { deferred } from '../../base/deferred.js';
import { TroupeError } from '../../protocol/errors.js';
import type { BrowserOptions } from './browser-options.js';
import type { CdpConnection } from './connection/cdp-connection.js';

type RequestEvent = Extract<CdpEvent, { method: 'Fetch.authRequired' | 'Fetch.requestPaused' }>;

/** Requests whose credentials were sent once: asked again, they were wrong. */
const MAX_ANSWERED = 1000;
/** A window's own size leaves less to its page, by as much as the browser's bars take. */
const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/** Gives each page what the session's options say, before the page's first script runs. */
export class PageDefaults {
  /** Settles when the first page has taken every option; INVALID_REQUEST when the browser refused one. */
  readonly accepted: Promise<void>;
  readonly #accepted = deferred<void>();
  readonly #connection: CdpConnection;
  readonly #options: BrowserOptions;
  readonly #userAgent: string | undefined;
  readonly #answered = new Set<string>();

  private constructor(connection: CdpConnection, options: BrowserOptions, userAgent: string | undefined) {
    this.#connection = connection;
    this.#options = options;
    this.#userAgent = userAgent;
    this.accepted = this.#accepted.promise;
    // It is awaited only where connecting comes that far.
    this.accepted.catch(() => undefined);
  }

  static async of(connection: CdpConnection, options: BrowserOptions): Promise<PageDefaults> {
    const { locale, userAgent } = options;
    // The languages that a page accepts can only be set together with its user agent.
    if (locale === undefined || userAgent !== undefined) return new PageDefaults(connection, options, userAgent);
    const version = await connection.send('Browser.getVersion', {});
    return new PageDefaults(connection, options, version.userAgent);
  }

  /** Sends the options to a page without waiting; its later commands come after them. */
  apply(session: string): void {
    const {
      viewport = DEFAULT_VIEWPORT,
      locale,
      timezone,
      headers,
      httpCredentials,
      ignoreHTTPSErrors,
      proxy,
    } = this.#options;
    const sent: Promise<void>[] = [];
    const give = <M extends CdpMethod>(option: string, method: M, params: CdpParams<M>): void => {
      sent.push(this.#give(option, method, params, session));
    };
    give('viewport', 'Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false });
    if (locale !== undefined) give('locale', 'Emulation.setLocaleOverride', { locale: locale.replace('-', '_') });
    if (timezone !== undefined) give('timezone', 'Emulation.setTimezoneOverride', { timezoneId: timezone });
    if (this.#userAgent !== undefined) {
      const acceptLanguage = locale === undefined ? {} : { acceptLanguage: locale };
      give('userAgent', 'Emulation.setUserAgentOverride', { userAgent: this.#userAgent, ...acceptLanguage });
    }
    if (headers !== undefined) give('headers', 'Network.setExtraHTTPHeaders', { headers });
    if (ignoreHTTPSErrors === true) {
      give('ignoreHTTPSErrors', 'Security.setIgnoreCertificateErrors', { ignore: true });
    }
    if (httpCredentials !== undefined || proxy?.username !== undefined) {
      // Every request then waits for our word; nothing but the credentials is worth that.
      const patterns = [{ urlPattern: '*' }];
      give(httpCredentials === undefined ? 'proxy' : 'httpCredentials', 'Fetch.enable', {
        handleAuthRequests: true,
        patterns,
      });
    }
    const accepted = Promise.all(sent).then(() => undefined);
    // Those of a later page are awaited by nobody: it may be gone before it takes them.
    accepted.catch(() => undefined);
    this.#accepted.resolve(accepted);
  }

  answerRequest(event: RequestEvent): void {
    const { session } = event;
    const { requestId } = event.params;
    const answer =
      event.method === 'Fetch.requestPaused'
        ? this.#connection.send('Fetch.continueRequest', { requestId }, { session })
        : this.#connection.send(
            'Fetch.continueWithAuth',
            { requestId, authChallengeResponse: this.#challengeAnswer(requestId, event.params.authChallenge.source) },
            { session },
          );
    // The page may have gone on without the request.
    answer.catch(() => undefined);
  }

  /** A proxy has credentials of its own: it is never told a site's, nor a site the proxy's. */
  #challengeAnswer(requestId: string, source: string | undefined) {
    const { httpCredentials, proxy } = this.#options;
    const isProxy = source === 'Proxy';
    const { username, password = '' } = (isProxy ? proxy : httpCredentials) ?? {};
    // Without any it is as if the person had closed the dialog: the page shows the 401, or the fault.
    if (username === undefined) return { response: 'CancelAuth' } as const;
    const asked = `${isProxy ? 'proxy' : 'site'} ${requestId}`;
    if (this.#answered.has(asked)) return { response: 'CancelAuth' } as const;
    if (this.#answered.size >= MAX_ANSWERED) this.#answered.clear();
    this.#answered.add(asked);
    return { response: 'ProvideCredentials', username, password } as const;
  }

  async #give<M extends CdpMethod>(option: string, method: M, params: CdpParams<M>, session: string): Promise<void> {
    try {
      await this.#connection.send(method, params, { session });
    } catch (cause) {
      // Only what the browser refuses is the request's fault: it may also be gone, or not answer.
      if (!(cause instanceof TroupeError) || cause.code !== 'ACTION_FAILED') throw cause;
      const text = cause.message;
      const issues = [{ path: option, message: text }];
      throw new TroupeError('INVALID_REQUEST', `"${option}": ${text}`, { issues }, { cause });
    }
  }
}
