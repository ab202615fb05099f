import { SERVICE } from './api.js';
import { live } from './live.svelte.js';

/** A curl command for the service, with the token from the shell's environment if this page needed one. */
export function curlLine(path: string, ...options: readonly string[]): string {
  const token = live.token === null ? [] : ['-H "Authorization: Bearer $TROUPE_TOKEN"'];
  return ['curl -s', ...token, ...options, shellWord(`${SERVICE}${path}`)].join(' ');
}

/** A JSON body as curl's option. */
export function curlBody(body: unknown): string {
  return `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
}

/** A text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
