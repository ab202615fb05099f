import type { PageSize } from '../agent-js/browser/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams } from '../agent-js/browser/cdp.js';
import { type Device, deviceNamed } from '../agent-js/devices/devices.js';
import { deferred } from '../base/deferred.js';
import { TroupeError } from '../protocol/errors.js';
import type { CdpConnection } from './connection/cdp-connection.js';
import type { BrowserOptions } from './session-options.js';

type RequestEvent = Extract<CdpEvent, { method: 'Fetch.authRequired' | 'Fetch.requestPaused' }>;

/** Requests whose credentials were sent once. If they are requested again, they were wrong. */
const MAX_ANSWERED = 1000;
/** Set explicitly, because the window's size includes the browser's bars, and its page gets less. */
const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/** Fingers that a phone or tablet tells apart. */
const TOUCH_POINTS = 5;

function deviceOf({ device }: BrowserOptions): Device | undefined {
  return device === undefined ? undefined : deviceNamed(device);
}

/** Applies the session's options to each page, before the page's first script runs. */
export class PageDefaults {
  /**
   * Resolves when the first page has accepted every option; rejects with INVALID_REQUEST if the browser rejected one.
   */
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
    // Not awaited if connecting fails earlier.
    this.accepted.catch(() => undefined);
  }

  static async of(connection: CdpConnection, options: BrowserOptions): Promise<PageDefaults> {
    const { locale, userAgent = deviceOf(options)?.userAgent } = options;
    // A page's accepted languages can only be set together with its user agent.
    if (locale === undefined || userAgent !== undefined) return new PageDefaults(connection, options, userAgent);
    const version = await connection.send('Browser.getVersion', {});
    return new PageDefaults(connection, options, version.userAgent);
  }

  /** The size that pages get. */
  get pageSize(): PageSize {
    const device = deviceOf(this.#options);
    const { viewport = device?.viewport ?? DEFAULT_VIEWPORT } = this.#options;
    return { ...viewport, deviceScaleFactor: device?.deviceScaleFactor ?? 1 };
  }

  /** Sends the options to a page without waiting; later commands are processed after them. */
  apply(session: string): void {
    const device = deviceOf(this.#options);
    const { colorScheme, geolocation, locale, timezone, headers, httpCredentials, ignoreHTTPSErrors, proxy } =
      this.#options;
    const sent: Promise<void>[] = [];
    const set = <M extends CdpMethod>(option: string, method: M, params: CdpParams<M>): void => {
      sent.push(this.#set(option, method, params, session));
    };
    set('viewport', 'Emulation.setDeviceMetricsOverride', {
      ...this.pageSize,
      mobile: device?.isMobile ?? false,
    });
    if (device?.hasTouch === true) {
      set('device', 'Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: TOUCH_POINTS });
    }
    if (geolocation !== undefined) {
      const { latitude, longitude, accuracy = 0 } = geolocation;
      set('geolocation', 'Emulation.setGeolocationOverride', { latitude, longitude, accuracy });
    }
    if (colorScheme !== undefined) {
      const features = [{ name: 'prefers-color-scheme', value: colorScheme }];
      set('colorScheme', 'Emulation.setEmulatedMedia', { features });
    }
    if (locale !== undefined) set('locale', 'Emulation.setLocaleOverride', { locale: locale.replace('-', '_') });
    if (timezone !== undefined) set('timezone', 'Emulation.setTimezoneOverride', { timezoneId: timezone });
    if (this.#userAgent !== undefined) {
      const acceptLanguage = locale === undefined ? {} : { acceptLanguage: locale };
      set('userAgent', 'Emulation.setUserAgentOverride', { userAgent: this.#userAgent, ...acceptLanguage });
    }
    if (headers !== undefined) set('headers', 'Network.setExtraHTTPHeaders', { headers });
    if (ignoreHTTPSErrors === true) {
      set('ignoreHTTPSErrors', 'Security.setIgnoreCertificateErrors', { ignore: true });
    }
    if (httpCredentials !== undefined || proxy?.username !== undefined) {
      // Every request then waits for our answer, which is only worth it for credentials.
      const patterns = [{ urlPattern: '*' }];
      set(httpCredentials === undefined ? 'proxy' : 'httpCredentials', 'Fetch.enable', {
        handleAuthRequests: true,
        patterns,
      });
    }
    const accepted = Promise.all(sent).then(() => undefined);
    // Not awaited for later pages, which may be gone before they accept the options.
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
    // The page may have abandoned the request.
    answer.catch(() => undefined);
  }

  /** A proxy and a site have separate credentials; neither gets the other's. */
  #challengeAnswer(requestId: string, source: string | undefined) {
    const { httpCredentials, proxy } = this.#options;
    const isProxy = source === 'Proxy';
    const { username, password = '' } = (isProxy ? proxy : httpCredentials) ?? {};
    // Without credentials the dialog is cancelled: the page shows the 401, or the error.
    if (username === undefined) return { response: 'CancelAuth' } as const;
    const asked = `${isProxy ? 'proxy' : 'site'} ${requestId}`;
    if (this.#answered.has(asked)) return { response: 'CancelAuth' } as const;
    if (this.#answered.size >= MAX_ANSWERED) this.#answered.clear();
    this.#answered.add(asked);
    return { response: 'ProvideCredentials', username, password } as const;
  }

  async #set<M extends CdpMethod>(option: string, method: M, params: CdpParams<M>, session: string): Promise<void> {
    try {
      await this.#connection.send(method, params, { session });
    } catch (cause) {
      // Only a rejected option is the request's fault: the browser may also be gone, or not answer.
      if (!(cause instanceof TroupeError) || cause.code !== 'ACTION_FAILED') throw cause;
      const text = cause.message;
      const issues = [{ path: option, message: text }];
      throw new TroupeError('INVALID_REQUEST', `"${option}": ${text}`, { issues }, { cause });
    }
  }
}
