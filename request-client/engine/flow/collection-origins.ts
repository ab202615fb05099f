import { authAt } from '../collection/auth.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { folderScopes } from '../collection/folder-variables.js';
import { enabledPairs, listOf, member, textOf } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import { VariableResolver } from '../collection/variables.js';
import { requestsBelow } from '../collection-run/collection-runner.js';
import { type RequestTarget, requestTarget } from '../run/request-target.js';

const ADDRESSES = ['url', 'accessTokenUrl', 'authorizationUrl', 'authUrl', 'refreshTokenUrl'];
/** URLs to which scripts send requests. A URL that a script assigns to a variable does not count. */
const SENT_TO = /(?:sendRequest\s*\(\s*|\burl['"]?\s*[:=]\s*)['"`](https?:\/\/[^\s'"`\\<>(){}$]+)/gi;

/** Scheme, host and port, like `URL.origin`. */
export function originOf({ secure, host }: Pick<RequestTarget, 'secure' | 'host'>): string {
  return `${secure ? 'https' : 'http'}://${host}`;
}

/**
 * The origins that a collection itself names: in its requests, its OAuth 2.0 settings, its variables, and the targets
 * of its scripts' requests. Only the file counts, not what scripts and callers set at run time.
 */
export function collectionOrigins(collection: Collection): ReadonlySet<string> {
  const origins = new Set<string>();
  const add = (url: string): void => {
    const origin = originIn(url);
    if (origin !== null) origins.add(origin);
  };
  const own = new Map(enabledPairs(member(collection.root, 'variable')).map(({ key, value }) => [key, value] as const));
  const visit = (path: CollectionNode['path'], value: unknown): void => {
    const resolver = new VariableResolver([
      ...(path.length === 0 ? [] : folderScopes(collection, [...path, 'item', 0])),
      own,
    ]);
    for (const variable of enabledPairs(member(value, 'variable'))) {
      const text = resolver.text(variable.value);
      if (/^https?:\/\//i.test(text)) add(text);
    }
    for (const event of listOf(member(value, 'event'))) {
      const exec = member(member(event, 'script'), 'exec');
      const source =
        typeof exec === 'string'
          ? exec
          : listOf(exec)
              .map((line) => textOf(line) ?? '')
              .join('\n');
      for (const [, url = ''] of resolver.text(source).matchAll(SENT_TO)) add(url);
    }
  };
  const visitBelow = ({ path, value, children }: CollectionNode): void => {
    visit(path, value);
    for (const child of children) visitBelow(child);
  };
  visit([], collection.root);
  for (const node of collection.items) visitBelow(node);
  for (const { path, value } of collection.items.flatMap((item) => requestsBelow(item))) {
    const resolver = new VariableResolver([...folderScopes(collection, path), own]);
    add(resolver.text(readRequest(value).url));
    const auth = authAt(collection, path);
    if (auth.kind === 'oauth2') for (const key of ADDRESSES) add(resolver.text(auth.settings.get(key) ?? ''));
  }
  return origins;
}

function originIn(url: string): string | null {
  try {
    const target = requestTarget(url, true);
    return target.host.includes('{{') ? null : originOf(target);
  } catch {
    return null;
  }
}
