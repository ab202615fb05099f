import { authAt } from '../collection/auth.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { enabledPairs, member } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import { isCredentialHeader, isSecretVariable } from '../collection/secret-names.js';
import { VariableResolver, type VariableScope } from '../collection/variables.js';
import { requestsBelow } from '../collection-run/collection-runner.js';
import type { Scopes } from '../collection-run/scripts.js';

/** Shorter values occur in too many other texts. */
const MIN_LENGTH = 4;
/** The scheme before the secret in an Authorization header. */
const SCHEME = /^(?:Bearer|Basic|Token)\s+/i;
/** Settings of OAuth 2.0 that are secret. */
const OAUTH_SECRET = /secret|password|assertion|private_?key|^(?:access|refresh|id)_?token$/i;
/** Settings of AWS Signature, Hawk, JWT and OAuth 1.0 that are secret. */
const SIGNING_SECRET = /secret|authKey|privateKey|^(?:session)?token$/i;
const PLACE = /\{\{([^{}]+)\}\}/g;

/** The secrets of a collection: the values of its auths and credential headers, and its secret variables. */
export class CollectionSecrets {
  /** Texts that are secret as a whole, with `{{variables}}`. */
  readonly #texts = new Set<string>();
  /** The secret variables. */
  readonly #names = new Set<string>();
  /** The variables of the collection and its folders, as in the file. */
  readonly #stored: readonly VariableScope[];

  constructor(collection: Collection) {
    const requests = collection.items.flatMap((item) => requestsBelow(item));
    const lists = variableLists(collection, collection.items);
    this.#stored = lists.map((list) => new Map(enabledPairs(list).map(({ key, value }) => [key, value])));
    for (const { key, entry } of lists.flatMap((list) => enabledPairs(list))) {
      if (member(entry, 'type') === 'secret' || isSecretVariable(key)) this.#names.add(key);
    }
    for (const { path, value } of requests) {
      for (const text of authTexts(collection, path)) this.#texts.add(text);
      for (const header of readRequest(value).headers) {
        if (!isCredentialHeader(header.name) || namesIn(header.value).length === 0) continue;
        this.#texts.add(header.value.replace(SCHEME, ''));
      }
    }
    for (const text of this.#texts) for (const name of namesIn(text)) this.#names.add(name);
    // Variables that are used in a secret one are secret too.
    for (const name of this.#names) {
      for (const scope of this.#stored) for (const inner of namesIn(scope.get(name) ?? '')) this.#names.add(inner);
    }
  }

  /**
   * The current values of the secrets, in each form in which they may occur in text. A value that the caller gives for
   * a variable is not included.
   * @param scopes the variables of the run
   */
  values({ environment, collection, globals }: Scopes): ReadonlySet<string> {
    const scopes: readonly VariableScope[] = [environment, collection, globals, ...this.#stored];
    const resolver = new VariableResolver(scopes);
    const values = new Set<string>();
    const add = (value: string): void => {
      const text = value.trim();
      if (text.length < MIN_LENGTH) return;
      for (const form of formsOf(text)) values.add(form);
    };
    for (const text of this.#texts) add(resolver.text(text));
    for (const scope of scopes) {
      for (const [name, value] of scope) {
        if (this.#names.has(name) || isSecretVariable(name)) add(resolver.text(value));
      }
    }
    return values;
  }
}

/** The plain form, and those for URLs, forms, JSON and Basic authorization. */
function formsOf(text: string): readonly string[] {
  return [
    text,
    encodeURIComponent(Buffer.from(text).toString()),
    new URLSearchParams({ t: text }).toString().slice(2),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
    Buffer.from(text).toString('base64url'),
  ];
}

function authTexts(collection: Collection, path: CollectionNode['path']): readonly string[] {
  const auth = authAt(collection, path);
  switch (auth.kind) {
    case 'basic':
    case 'digest':
    case 'ntlm':
      return [auth.password];
    case 'bearer':
      return [auth.token];
    case 'apikey':
      return [auth.value];
    case 'oauth2':
      return [
        ...[...auth.settings].flatMap(([name, value]) => (OAUTH_SECRET.test(name) ? [value] : [])),
        ...auth.parameters.flatMap(({ name, value }) =>
          OAUTH_SECRET.test(name) || isCredentialHeader(name) ? [value.replace(SCHEME, '')] : [],
        ),
      ];
    case 'signed':
      return [...auth.settings].flatMap(([name, value]) => (SIGNING_SECRET.test(name) ? [value] : []));
    default:
      return [];
  }
}

function variableLists(collection: Collection, nodes: readonly CollectionNode[]): readonly unknown[] {
  const below = (node: CollectionNode): unknown[] => [
    member(node.value, 'variable'),
    ...node.children.flatMap((child) => below(child)),
  ];
  return [member(collection.root, 'variable'), ...nodes.flatMap(below)];
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(PLACE)].map(([, name = '']) => name.trim());
}
