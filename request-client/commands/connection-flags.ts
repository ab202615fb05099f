import { resolve } from 'node:path';
import { type ConnectionSettings, listed, withNodeAuthorities } from '#troupe/config/connection-settings.js';
import { namedVariable } from '#troupe/config.js';
import { isTargetPattern } from '#troupe/net-policy/target-pattern.js';
import { UsageError } from '#troupe/terminal/failure.js';

/** The options of commands that send requests. */
interface ConnectionFlags {
  readonly proxy?: string | undefined;
  readonly 'no-proxy'?: string | undefined;
  readonly ca?: readonly string[] | undefined;
  readonly cert?: readonly string[] | undefined;
  readonly passphrase?: string | undefined;
}

/** @throws UsageError */
export function withFlags(flags: ConnectionFlags): (saved: ConnectionSettings) => ConnectionSettings {
  const { proxy, 'no-proxy': noProxy, ca = [], cert = [], passphrase } = flags;
  const secret = passphrase === undefined ? '' : namedVariable(passphrase);
  if (secret === undefined) throw new UsageError(`--passphrase names the variable ${passphrase}, which is not set`);
  const own = cert.map((text) => certificateIn(text, secret));
  const url = proxy === 'none' ? '' : proxy;
  return (saved) =>
    withNodeAuthorities({
      proxy: {
        ...saved.proxy,
        ...(url === undefined ? {} : { http: url, https: url, bypass: [] }),
        ...(noProxy === undefined ? {} : { bypass: listed(noProxy) }),
      },
      ca: [...ca.map((path) => resolve(path)), ...saved.ca],
      certificates: [...own, ...saved.certificates],
    });
}

function certificateIn(text: string, passphrase: string): ConnectionSettings['certificates'][number] {
  const [, host = '', file = '', key = ''] = /^([^=]+)=([^,]+)(?:,(.+))?$/s.exec(text) ?? [];
  if (!isTargetPattern(host)) {
    throw new UsageError(`--cert takes HOST=FILE.pfx or HOST=CERT.pem,KEY.pem, not '${text}'`);
  }
  return key === ''
    ? { host, cert: '', key: '', pfx: resolve(file), passphrase }
    : { host, cert: resolve(file), key: resolve(key), pfx: '', passphrase };
}
