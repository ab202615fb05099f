/** The kinds of authorization, as they are stored and as people read them. */
export const AUTH_NAMES: { readonly [type: string]: string } = {
  inherit: 'Inherit',
  noauth: 'No auth',
  basic: 'Basic',
  bearer: 'Bearer token',
  apikey: 'API key',
  oauth2: 'OAuth 2.0',
  digest: 'Digest',
  awsv4: 'AWS Signature',
  hawk: 'Hawk',
  jwt: 'JWT bearer',
  ntlm: 'NTLM',
  oauth1: 'OAuth 1.0',
};

/** The name of a kind of authorization; a kind that is not supported is called as it is stored. */
export function authName(type: string): string {
  return AUTH_NAMES[type] ?? type;
}
