import { z } from 'zod';

/** A certificate with which the request client proves who it is: `cert` and `key` are PEM files, or `pfx` is both. */
export const ClientCertificateForm = z.strictObject({
  host: z.string(),
  cert: z.string(),
  key: z.string(),
  pfx: z.string(),
  passphrase: z.string(),
});
export type ClientCertificateForm = z.infer<typeof ClientCertificateForm>;

/** The settings of the request client, in a file that only its owner can read. */
export const ClientSettings = z.strictObject({
  /** `environment`: HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  proxy: z.enum(['environment', 'none', 'manual']).default('environment'),
  proxyUrl: z.string().default(''),
  proxyUser: z.string().default(''),
  proxyPassword: z.string().default(''),
  /** As NO_PROXY, for a proxy that is set here. */
  noProxy: z.string().default(''),
  /** PEM files. */
  ca: z.array(z.string()).default([]),
  certificates: z.array(ClientCertificateForm).default([]),
  /** Seconds for one request and its response. */
  timeout: z.number().positive().max(3600).default(60),
  /** Whether cookies are kept and sent. */
  cookies: z.boolean().default(true),
});
export type ClientSettings = z.infer<typeof ClientSettings>;

/** A cookie of the jar. */
export const CookieRow = z.strictObject({
  name: z.string().min(1),
  value: z.string(),
  domain: z.string().min(1),
  path: z.string().min(1),
  /** ISO 8601; null until the end. */
  expires: z.string().nullable(),
  secure: z.boolean(),
  httpOnly: z.boolean(),
  /** It is not sent to names below the domain. */
  hostOnly: z.boolean(),
});
export type CookieRow = z.infer<typeof CookieRow>;

/** Identifies a cookie. */
export const CookieKey = CookieRow.pick({ name: true, domain: true, path: true });
export type CookieKey = z.infer<typeof CookieKey>;
