import type { HeaderEntry } from '../../request.js';

/** What the client adds by itself; every other added header comes from the authorization. */
const OPEN =
  /^(?:host|user-agent|accept|cookie|content-(?:type|length)|connection|upgrade|sec-websocket-(?:key|version|protocol))$/i;

/**
 * The headers of a request as they were sent. What its authorization added is masked, but for the scheme.
 *
 * @param written the headers that the user wrote
 */
export function shownHeaders(sent: readonly HeaderEntry[], written: readonly HeaderEntry[]): HeaderEntry[] {
  return sent.map((header) => {
    const own = written.some(({ name, value }) => name === header.name && value === header.value);
    if (own || OPEN.test(header.name)) return header;
    const [, scheme = ''] = /^([A-Za-z][\w-]* )\S/.exec(header.value) ?? [];
    return { name: header.name, value: `${scheme}********` };
  });
}
