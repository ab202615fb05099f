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
