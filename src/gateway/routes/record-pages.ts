import { LIST_LIMIT, type ListQuery } from '../../protocol/session.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Answer } from '../route.js';

/**
 * A page of records. If there are more, the header `Link` has the address of the next page.
 * @param query.limit the length of a page
 * @param hidden members of the query that are not the caller's
 */
export async function recordPage(
  sessions: Sessions,
  path: string,
  query: ListQuery,
  hidden: Partial<ListQuery> = {},
): Promise<Answer> {
  const limit = query.limit ?? LIST_LIMIT;
  // One more says whether another page follows.
  const found = await sessions.list({ ...query, ...hidden, limit: limit + 1 });
  const body = found.slice(0, limit);
  const last = body.at(-1);
  if (last === undefined || found.length <= limit) return { kind: 'json', status: 200, body };
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, before: last.id })) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) words.append(name, String(one));
  }
  return { kind: 'json', status: 200, body, next: `${path}?${words}` };
}
