import { SERVICE } from './api.js';
import { live } from './live.svelte.js';

/** A curl line for the service: with the token of the shell's environment, where this page was let in with one. */
export function curlLine(path: string, ...options: readonly string[]): string {
  const token = live.token === null ? [] : ['-H "Authorization: Bearer $TROUPE_TOKEN"'];
  return ['curl -s', ...token, ...options, `${SERVICE}${path}`].join(' ');
}

/** A JSON body as curl's option for it. */
export function curlBody(body: unknown): string {
  return `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
}
