import { TroupeError } from '../../protocol/errors.js';
import { COMMON_FLAGS, languageFlags, proxyFlags, proxyScheme } from '../chromium/chromium-flags.js';
import type { LeaseOptions } from '../driver.js';

/** Height of Chromium's tabs and address bar over the page, in pixels at scale 1. */
const BARS_HEIGHT = 87;

/**
 * A worker's desktop: as large as a window needs to be for the page to have its viewport, and a pixel more, since Chromium
 * makes a window smaller that would cover the whole of it.
 */
export function desktopSize(
  viewport: LeaseOptions['viewport'],
  scale: number,
): { readonly width: number; readonly height: number } {
  return {
    width: Math.ceil(viewport.width * scale) + 1,
    height: Math.ceil((viewport.height + BARS_HEIGHT) * scale) + 1,
  };
}

/** The command line of the Chromium on a worker's desktop, whose only way out are the relays of the worker. */
export function workerFlags(
  options: Pick<LeaseOptions, 'viewport' | 'locale' | 'proxy'>,
  scale: number,
): readonly string[] {
  const { viewport, locale, proxy } = options;
  return [
    '--user-data-dir=/home/worker/profile',
    '--remote-debugging-port=9222',
    // As --enable-automation does, without its bar over the page.
    '--enable-blink-features=AutomationControlled',
    ...COMMON_FLAGS,
    '--window-position=0,0',
    `--window-size=${viewport.width},${viewport.height + BARS_HEIGHT}`,
    `--force-device-scale-factor=${scale}`,
    // There is no other network than loopback.
    '--allow-loopback-in-peer-connection',
    ...languageFlags(locale),
    ...workerProxyFlags(proxy),
    'about:blank',
  ];
}

/** The port of the worker's relay to the service's gate, and of the one to the proxy that a session asks for. */
const GATE = '127.0.0.1:1080';
const PROXY = '127.0.0.1:1081';

function workerProxyFlags(proxy: LeaseOptions['proxy']): readonly string[] {
  if (proxy !== undefined) relayScheme(proxy.server);
  return proxyFlags(GATE, proxy, PROXY);
}

/**
 * Where a session's proxy is.
 * @throws INVALID_REQUEST for one that is neither http nor socks5: the certificate of another would not match the relay
 */
export function proxyPlace(server: string): { readonly host: string; readonly port: number } {
  const scheme = relayScheme(server);
  const { hostname, port } = new URL(`http://${server.replace(/^[a-z0-9]+:\/\//i, '')}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (scheme === 'http' ? 80 : 1080) : Number(port) };
}

function relayScheme(server: string): 'http' | 'socks5' {
  const scheme = proxyScheme(server);
  if (scheme === 'http' || scheme === 'socks5') return scheme;
  throw new TroupeError('INVALID_REQUEST', `proxy: the docker driver takes http and socks5 proxies, not ${scheme}`);
}
