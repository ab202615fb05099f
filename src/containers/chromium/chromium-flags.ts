import type { LeaseOptions } from '../driver.js';

/** Features that cost memory, call home, or change a page's behaviour behind its author's back. */
const DISABLED_FEATURES = [
  // Two hidden pages of the address bar, each with a process: 55 MB a browser.
  'AimEnabled',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // Calls that Chromium makes by itself.
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'DialMediaRouteProvider',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // A test of an http page is to stay on http.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  // Bubbles over the page.
  'GlobalMediaControls',
  'LensOverlay',
  'Translate',
  // An ended page must leave its profile whole.
  'DestroyProfileOnBrowserClose',
];

/** What every Chromium of ours is told, wherever it runs. */
export const COMMON_FLAGS: readonly string[] = [
  // Nothing goes out that no page asked for.
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-field-trial-config',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-pings',
  '--no-service-autorun',
  // QUIC passes by a proxy and by whatever counts or denies connections.
  '--disable-quic',
  // No questions, no bubbles, no keychain.
  '--no-default-browser-check',
  '--no-first-run',
  '--noerrdialogs',
  '--disable-component-extensions-with-background-pages',
  '--disable-extensions',
  '--disable-infobars',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-search-engine-choice-screen',
  '--password-store=basic',
  '--use-mock-keychain',
  // A page that nobody looks at runs as one in front does.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-hang-monitor',
  '--disable-renderer-backgrounding',
  // A page gone back to is loaded again, so that every navigation looks alike.
  '--disable-back-forward-cache',
  '--allow-pre-commit-input',
  // The same picture on every machine.
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--mute-audio',
  // A mouse that can hover, though no device is plugged in.
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
  // WebGL without a graphics card.
  '--enable-unsafe-swiftshader',
  // The folder goes with the lease: a large cache would only be removed again.
  '--disk-cache-size=67108864',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
];

/** Where a browser of the process driver lives. */
interface HeadlessPlace {
  readonly profile: string;
  readonly headlessShell: boolean;
  readonly sandbox: boolean;
  readonly smallSharedMemory: boolean;
  /** The port of its SOCKS proxy on 127.0.0.1. */
  readonly gatePort: number;
  /** Of the service. */
  readonly ownPort: number;
}

/** The command line of one lease's headless Chromium on this machine. */
export function chromiumFlags(
  options: Pick<LeaseOptions, 'viewport' | 'locale' | 'proxy'>,
  place: HeadlessPlace,
): readonly string[] {
  const { viewport, locale, proxy } = options;
  return [
    place.headlessShell ? '--headless' : '--headless=new',
    `--user-data-dir=${place.profile}`,
    '--remote-debugging-pipe',
    '--enable-automation',
    '--force-device-scale-factor=1',
    ...COMMON_FLAGS,
    ...(place.sandbox ? [] : ['--no-sandbox']),
    ...(place.smallSharedMemory ? ['--disable-dev-shm-usage'] : []),
    `--window-size=${viewport.width},${viewport.height}`,
    ...languageFlags(locale),
    ...networkFlags(proxy, place),
    // WebRTC over UDP would go past every proxy.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    'about:blank',
  ];
}

/**
 * Pages go through the gate, or a session's own proxy. Names are looked up there; by itself the browser looks up none but
 * that proxy's. The headless shell knows no proxy script, so what a session's proxy bypasses it reaches directly, and
 * only the service's port is closed to it then.
 */
function networkFlags(
  proxy: LeaseOptions['proxy'],
  { gatePort, ownPort, headlessShell }: HeadlessPlace,
): readonly string[] {
  const bypassed = bypassRules(proxy?.bypass);
  if (proxy !== undefined && headlessShell && bypassed.length > 0) {
    return [
      `--proxy-server=${proxy.server}`,
      `--proxy-bypass-list=${['<-loopback>', ...bypassed].join(';')}`,
      `--host-resolver-rules=MAP *:${ownPort} ~NOTFOUND, MAP 169.254.169.254 ~NOTFOUND`,
    ];
  }
  const known = ['127.0.0.1', ...(proxy === undefined ? [] : [hostOf(proxy.server)])];
  return [
    ...proxyFlags(`127.0.0.1:${gatePort}`, proxy),
    `--host-resolver-rules=MAP * ~NOTFOUND${known.map((host) => `, EXCLUDE ${host}`).join('')}`,
  ];
}

/** The interface's and the pages' language. */
export function languageFlags(locale: string | undefined): readonly string[] {
  return locale === undefined ? [] : [`--lang=${locale}`, `--accept-lang=${acceptedLanguages(locale)}`];
}

/** `de-DE` accepts `de-DE,de`. */
function acceptedLanguages(locale: string): string {
  const [language] = locale.split('-');
  return language === undefined || language === locale ? locale : `${locale},${language}`;
}

/**
 * How pages reach the world: through the service's gate (SOCKS 5), or through a session's own proxy, and to the hosts
 * that it is not for through the gate. Loopback takes the same ways.
 * @param gate where Chromium finds the gate, `host:port`
 * @param at where Chromium finds the proxy, if not at its own address
 */
export function proxyFlags(gate: string, proxy: LeaseOptions['proxy'], at?: string): readonly string[] {
  const loopbackToo = '--proxy-bypass-list=<-loopback>';
  if (proxy === undefined) return [`--proxy-server=socks5://${gate}`, loopbackToo];
  const scheme = proxyScheme(proxy.server);
  const place = at ?? proxy.server.replace(SCHEME, '');
  const rules = bypassRules(proxy.bypass);
  if (rules.length === 0) return [`--proxy-server=${scheme}://${place}`, loopbackToo];
  const patterns = JSON.stringify(rules.map((rule) => rule.toLowerCase()));
  const script =
    `function FindProxyForURL(u,h){h=h.toLowerCase();var r=${patterns};for(var i=0;i<r.length;i++)` +
    `if(shExpMatch(h,r[i]))return"SOCKS5 ${gate}";return"${PAC_WORDS[scheme] ?? 'PROXY'} ${place}"}`;
  return [
    `--proxy-pac-url=data:application/x-ns-proxy-autoconfig;base64,${Buffer.from(script).toString('base64')}`,
    loopbackToo,
  ];
}

const SCHEME = /^([a-z0-9]+):\/\//i;
/** What a proxy auto-configuration script calls each kind of proxy. */
const PAC_WORDS: { readonly [scheme: string]: string } = {
  http: 'PROXY',
  https: 'HTTPS',
  socks: 'SOCKS',
  socks4: 'SOCKS',
  socks5: 'SOCKS5',
};

/** `http` where a proxy's address names no scheme. */
export function proxyScheme(server: string): string {
  return SCHEME.exec(server)?.[1]?.toLowerCase() ?? 'http';
}

function hostOf(server: string): string {
  return new URL(`http://${server.replace(SCHEME, '')}`).hostname.replace(/^\[|\]$/g, '');
}

/** The hosts that go past a proxy, as Chromium writes them: as in Playwright, a leading dot means subdomains. */
function bypassRules(bypass: string | undefined): readonly string[] {
  return (bypass ?? '')
    .split(/[,;]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '')
    .map((rule) => (rule.startsWith('.') ? `*${rule}` : rule));
}
