/** What arguments of Chromium mean for a session. */
export interface Arguments {
  /** Fields of the request that creates the session. */
  readonly request: {
    viewport?: { width: number; height: number };
    locale?: string;
    userAgent?: string;
    ignoreHTTPSErrors?: boolean;
    proxy?: { server: string };
  };
  /** Arguments without effect. */
  readonly ignored: readonly string[];
}

/** Arguments that ask for what is so in any case. */
const ALREADY_SO: ReadonlySet<string> = new Set([
  'headless',
  'no-sandbox',
  'disable-setuid-sandbox',
  'disable-dev-shm-usage',
  'disable-gpu',
  'incognito',
  'no-first-run',
  'no-default-browser-check',
  'disable-extensions',
  'disable-popup-blocking',
  'disable-notifications',
  'disable-infobars',
  'enable-automation',
  'start-maximized',
  'remote-allow-origins',
]);

/** Browsers of sessions are started with the service's own arguments: those of a client become fields of its request. */
export function readArguments(args: readonly string[]): Arguments {
  const request: Arguments['request'] = {};
  const ignored: string[] = [];
  for (const arg of args) {
    const [, name = '', value = ''] = /^-*([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    const [, width, height] = /^(\d+)[,x](\d+)$/.exec(value) ?? [];
    if (name === 'window-size' && width !== undefined) {
      request.viewport = { width: Number(width), height: Number(height) };
    } else if (name === 'lang' && value !== '') request.locale = value;
    else if (name === 'user-agent' && value !== '') request.userAgent = value;
    else if (name === 'proxy-server' && value !== '') request.proxy = { server: value };
    else if (name === 'ignore-certificate-errors') request.ignoreHTTPSErrors = true;
    else if (!ALREADY_SO.has(name)) ignored.push(arg.slice(0, 200));
  }
  return { request, ignored };
}
