import type { BrowserKind } from '../../containers/driver.js';

/** The version of the DevTools protocol; Chrome has not changed it since 2017. */
export const PROTOCOL_VERSION = '1.3';

/** What Chrome says of itself at `/json/version`. Of a browser that is not known, only the name is said. */
export interface DevToolsVersion {
  readonly Browser: string;
  readonly 'Protocol-Version': string;
  readonly 'User-Agent'?: string;
  readonly 'V8-Version'?: string;
  readonly 'WebKit-Version'?: string;
}

/** The address for WebSockets of an `http:` or `https:` one. */
export function socketBase(base: string): string {
  return base.replace(/^http/, 'ws');
}

/** A browser in the form of Chrome's answer; null while the service knows of none. */
export function devToolsVersion(browser: BrowserKind | null): DevToolsVersion {
  const version = /\d+(?:\.\d+)+$/.exec(browser?.product ?? '')?.[0];
  if (browser === null || version === undefined) return { Browser: 'Chrome', 'Protocol-Version': PROTOCOL_VERSION };
  const major = Number.parseInt(version, 10);
  // In the user agent, all but the shell are silent about their minor version.
  const agents = {
    display: `Chrome/${major}.0.0.0`,
    headless: `HeadlessChrome/${major}.0.0.0`,
    shell: `HeadlessChrome/${version}`,
  };
  const webKit = `AppleWebKit/537.36 (KHTML, like Gecko) ${agents[browser.form]} Safari/537.36`;
  return {
    Browser: `Chrome/${version}`,
    'Protocol-Version': PROTOCOL_VERSION,
    'User-Agent': `Mozilla/5.0 (X11; Linux x86_64) ${webKit}`,
    // Chrome 147 has V8 14.7. WebKit's version has not changed since Chrome left it.
    'V8-Version': `${Math.floor(major / 10)}.${major % 10}`,
    'WebKit-Version': '537.36',
  };
}
