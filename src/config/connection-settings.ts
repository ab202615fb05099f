/** A certificate with which this client proves who it is. Paths are absolute; unused members are empty. */
export interface ClientCertificate {
  /** To whom it is shown: a host name, `*.domain`, an address or a range, each with an optional port. */
  readonly host: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** Instead of both. */
  readonly pfx: string;
  /** Of the key or the PFX file. */
  readonly passphrase: string;
}

/** The proxies for `http://` and `https://` URLs; empty for none. URLs may contain a user name and a password. */
export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  /** What is reached directly, as in NO_PROXY: `*`, names with everything below them, addresses, ranges; with optional ports. */
  readonly bypass: readonly string[];
}

/** How connections to servers are made. Plain data, sent to other threads; contains secrets. */
export interface ConnectionSettings {
  readonly proxy: ProxySettings;
  /** PEM files with authorities that are trusted besides the known ones. Absolute. */
  readonly ca: readonly string[];
  /** The first one that matches a host is used. */
  readonly certificates: readonly ClientCertificate[];
}

export const DIRECT: ConnectionSettings = { proxy: { http: '', https: '', bypass: [] }, ca: [], certificates: [] };

/** The proxies that the environment names: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, lower case first, as for curl. */
export function environmentProxies(env: NodeJS.ProcessEnv = process.env): ProxySettings {
  const named = (name: string): string => env[name.toLowerCase()] || env[name] || '';
  const all = named('ALL_PROXY');
  return {
    http: named('HTTP_PROXY') || all,
    https: named('HTTPS_PROXY') || all,
    bypass: listed(named('NO_PROXY')),
  };
}

/** Entries with commas or spaces between them. */
export function listed(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** Adds what Node itself trusts besides its own list (NODE_EXTRA_CA_CERTS), which a list of own authorities would replace. */
export function withNodeAuthorities(
  settings: ConnectionSettings,
  env: NodeJS.ProcessEnv = process.env,
): ConnectionSettings {
  const { NODE_EXTRA_CA_CERTS: extra } = env;
  return settings.ca.length === 0 || !extra ? settings : { ...settings, ca: [extra, ...settings.ca] };
}
