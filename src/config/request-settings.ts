import { resolve } from 'node:path';
import { z } from 'zod';
import { isTargetPattern } from '../net-policy/target-pattern.js';
import { TroupeError } from '../protocol/errors.js';
import { type ConnectionSettings, environmentProxies, withNodeAuthorities } from './connection-settings.js';
import { secretValue } from './secret-value.js';

const variableName = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'names an environment variable; never put the secret itself here');
const path = z.string().min(1);

const Certificate = z
  .strictObject({
    host: z.string().refine(isTargetPattern, 'is a host name, *.domain, an address or a range; a port may follow'),
    cert: path.optional(),
    key: path.optional(),
    pfx: path.optional(),
    passphrase: variableName.optional(),
  })
  .refine(({ cert, key, pfx }) => (pfx === undefined) === (cert !== undefined && key !== undefined), {
    message: 'has cert and key, or pfx',
  });

/** `requests` of `troupe.json`: how `Request.run` connects. Relative paths are in the home. */
export const RequestsKey = z.strictObject({
  proxy: z
    .string()
    .refine((text) => text === 'environment' || /^https?:\/\/[^@/]+\/?$/.test(text), {
      message:
        'is http://HOST:PORT, https://HOST:PORT, or "environment"; put a login into the variable that proxyLogin names',
    })
    .optional(),
  proxyLogin: variableName.optional(),
  noProxy: z.array(z.string().min(1)).default([]),
  ca: z.array(path).default([]),
  certificates: z.array(Certificate).default([]),
});

/**
 * The settings with absolute paths and the values of variables.
 * @throws INVALID_REQUEST if a named variable is not set
 */
export function resolveRequests(
  { proxy, proxyLogin, noProxy, ca, certificates }: z.infer<typeof RequestsKey>,
  home: string,
  env: NodeJS.ProcessEnv,
): ConnectionSettings {
  const secretOf = (key: string, name: string | undefined): string => {
    if (name === undefined) return '';
    const value = secretValue(env, name);
    if (value !== undefined) return value;
    throw new TroupeError('INVALID_REQUEST', `The configuration names the ${key} variable ${name}, which is not set`);
  };
  const file = (name: string | undefined): string => (name === undefined ? '' : resolve(home, name));
  const fromEnvironment = proxy === 'environment' ? environmentProxies(env) : null;
  const [user = '', ...password] = secretOf('requests.proxyLogin', proxyLogin).split(':');
  const url = withLogin(proxy ?? '', user, password.join(':'));
  const { http, https, bypass } = fromEnvironment ?? { http: url, https: url, bypass: [] };
  return withNodeAuthorities(
    {
      proxy: { http, https, bypass: [...bypass, ...noProxy] },
      ca: ca.map((name) => resolve(home, name)),
      certificates: certificates.map(({ host, cert, key, pfx, passphrase }) => ({
        host,
        cert: file(cert),
        key: file(key),
        pfx: file(pfx),
        passphrase: secretOf('requests.certificates.passphrase', passphrase),
      })),
    },
    env,
  );
}

/** @param user empty for no login */
export function withLogin(proxy: string, user: string, password: string): string {
  if (proxy === '' || user === '') return proxy;
  return proxy.replace('://', `://${encodeURIComponent(user)}:${encodeURIComponent(password)}@`);
}
