import type { LeaseOptions } from './driver.js';

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
  '--disable-ipc-flooding-protection',
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
  readonly smallSharedMemory: boolean;
}

/** The command line of one lease's headless Chromium on this machine. The sandbox is never switched off. */
export function chromiumFlags(
  options: Pick<LeaseOptions, 'viewport' | 'locale' | 'proxy'>,
  place: HeadlessPlace,
): readonly string[] {
  const { viewport, locale, proxy } = options;
  return [
    place.headlessShell ? '--headless' : '--headless=new',
    `--user-data-dir=${place.profile}`,
    '--remote-debugging-address=127.0.0.1',
    '--remote-debugging-port=0',
    '--enable-automation',
    '--force-device-scale-factor=1',
    ...COMMON_FLAGS,
    ...(place.smallSharedMemory ? ['--disable-dev-shm-usage'] : []),
    `--window-size=${viewport.width},${viewport.height}`,
    ...languageFlags(locale),
    ...(proxy === undefined
      ? []
      : [`--proxy-server=${proxy.server}`, `--proxy-bypass-list=${bypassList(proxy.bypass)}`]),
    'about:blank',
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
 * As Playwright has it, names that begin with a dot mean their subdomains, and loopback goes through the proxy too. Of
 * two rules that match, Chromium takes the later: what is bypassed by name is bypassed, loopback or not.
 */
function bypassList(bypass: string | undefined): string {
  return ['<-loopback>', ...bypassRules(bypass)].join(';');
}

/** The hosts that go past a proxy, as Chromium writes them. */
export function bypassRules(bypass: string | undefined): readonly string[] {
  return (bypass ?? '')
    .split(/[,;]/)
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '')
    .map((rule) => (rule.startsWith('.') ? `*${rule}` : rule));
}
