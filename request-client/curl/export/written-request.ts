import { authAt } from '../../engine/collection/auth.js';
import { authorize, unknownAuth } from '../../engine/collection/authorize.js';
import { behaviourAt } from '../../engine/collection/behaviour.js';
import type { Collection, CollectionNode } from '../../engine/collection/collection.js';
import { readRequest } from '../../engine/collection/read-request.js';
import type { RequestDraft } from '../../engine/request.js';

/** A request of a collection with its own or inherited authorization, as far as it can be written down. */
export function writtenRequest(
  collection: Collection,
  node: CollectionNode,
): { readonly request: RequestDraft; readonly warnings: readonly string[] } {
  const request = readRequest(node.value, behaviourAt(collection, node.path));
  const auth = authAt(collection, node.path);
  switch (auth.kind) {
    case 'oauth2':
      return { request, warnings: ['The token of OAuth 2.0 is not written: add it with --oauth2-bearer'] };
    case 'signed':
      return { request, warnings: ['The signature is not written: it is made when the request is sent'] };
    case 'unknown':
      return { request, warnings: [unknownAuth(auth.type)] };
    default:
      return { request: authorize(request, auth, (text) => text), warnings: [] };
  }
}
