import { queryPairs, queryPart } from '../../protocol/query.js';
import type { ParamRow, RequestEdit, RequestForm } from '../../protocol/request-window.js';
import { editedAddress, urlParts } from '../collection/address.js';
import { authPath } from '../collection/auth.js';
import { behaviourAt, sendSettings } from '../collection/behaviour.js';
import type { Collection, CollectionPath } from '../collection/collection.js';
import { folderValues } from '../collection/folder-variables.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { inheritedAuth, readAuthForm, writeAuth } from './auth-form.js';
import { readBodyForm, writeBody } from './body-form.js';
import { isEnabled, readRows, writeRows } from './rows.js';
import { readScript, writeScript } from './script-events.js';

/** The request at `path` for its tab. */
export function readForm(
  collection: Collection,
  path: CollectionPath,
  idOf: (path: CollectionPath) => string,
): RequestForm {
  const item = collection.at(path);
  const request = member(item, 'request');
  const stored = typeof request === 'string' ? request : member(request, 'url');
  const url = editedAddress(stored);
  const { followRedirects, verifyTls, httpVersion = 'auto' } = sendSettings(behaviourAt(collection, path));
  return {
    id: idOf(path),
    name: textOf(member(item, 'name')) ?? '',
    method: textOf(member(request, 'method')) ?? 'GET',
    url,
    params: readParams(url, member(stored, 'query')),
    pathVariables: readRows(member(stored, 'variable')),
    headers: readRows(member(request, 'header')),
    body: readBodyForm(member(request, 'body')),
    auth: readAuthForm(member(request, 'auth')),
    before: readScript(item, 'prerequest'),
    after: readScript(item, 'test'),
    followRedirects,
    verifyTls,
    httpVersion,
    inherited: inheritedAuth(collection, path, idOf),
    folderValues: folderValues(collection, path),
  };
}

/** The URL determines which parameters are sent; the stored list adds the disabled ones and their positions. */
function readParams(url: string, query: unknown): ParamRow[] {
  const [, text] = /\?([^#]*)/.exec(url) ?? [];
  const sent = text === undefined ? [] : queryPairs(text);
  const rows: ParamRow[] = [];
  for (const entry of listOf(query)) {
    const stored = { name: textOf(member(entry, 'key')) ?? '', value: textOf(member(entry, 'value')) ?? null };
    if (!isEnabled(entry)) {
      rows.push({ ...stored, enabled: false });
      continue;
    }
    const next = sent.shift();
    if (next === undefined) continue;
    const same = queryPart(stored.name, stored.value) === queryPart(next.key, next.value);
    rows.push({ ...(same ? stored : { name: next.key, value: next.value }), enabled: true });
  }
  return [...rows, ...sent.map(({ key, value }) => ({ name: key, value, enabled: true }))];
}

/** Applies the members of `edit` to the request at `path`; its other members are kept. */
export function writeForm(collection: Collection, path: CollectionPath, edit: RequestEdit): Collection {
  let made = collection;
  const item = (): JsonObject => asObject(made.at(path)) ?? {};
  const change = (member: readonly string[], value: unknown): void => {
    made = made.change([...path, ...member], value);
  };
  if (typeof item().request === 'string') change(['request'], { method: 'GET', header: [], url: item().request });
  const request = (): JsonObject => asObject(item().request) ?? {};
  if (edit.name !== undefined) change(['name'], edit.name);
  if (edit.method !== undefined) change(['request', 'method'], edit.method);
  if (edit.url !== undefined || edit.params !== undefined || edit.pathVariables !== undefined) {
    change(
      ['request', 'url'],
      writeUrl(
        request().url,
        withUrl(
          readForm(made, path, () => ''),
          edit,
        ),
      ),
    );
  }
  if (edit.headers !== undefined) {
    change(
      ['request', 'header'],
      writeRows(request().header, edit.headers, ({ value }) => ({ value })),
    );
  }
  if (edit.body !== undefined) change(['request', 'body'], writeBody(request().body, edit.body));
  if (edit.auth !== undefined) {
    const place = authPath(made, path);
    made = made.change(place, writeAuth(made.at(place), edit.auth));
  }
  if (edit.before !== undefined) made = writeScript(made, path, 'prerequest', edit.before);
  if (edit.after !== undefined) made = writeScript(made, path, 'test', edit.after);
  const behaviour = writeBehaviour(item().protocolProfileBehavior, behaviourAt(made, path.slice(0, -2)), edit);
  if (behaviour !== undefined) change(['protocolProfileBehavior'], behaviour);
  return made;
}

type UrlEdit = Pick<RequestForm, 'url' | 'params' | 'pathVariables'>;

function withUrl(own: UrlEdit, edit: RequestEdit): UrlEdit {
  const { url = own.url, params = own.params, pathVariables = own.pathVariables } = edit;
  return { url, params, pathVariables };
}

function writeUrl(old: unknown, { url, params, pathVariables }: UrlEdit): unknown {
  const plain = params.every(({ enabled }) => enabled) && pathVariables.length === 0;
  if (typeof old === 'string' && plain) return url;
  const { query, variable, ...rest } = asObject(old) ?? {};
  const rows = writeRows(query, params, ({ value }) => ({ value }));
  const variables = writeRows(variable, pathVariables, ({ value }) => ({ value }));
  return {
    ...(rest.raw === url ? rest : withAddress(rest, url)),
    ...(rows.length === 0 ? {} : { query: rows }),
    ...(variables.length === 0 ? {} : { variable: variables }),
  };
}

/** The parts of the previous URL are replaced too. */
function withAddress(old: JsonObject, url: string): JsonObject {
  const { raw, protocol, auth, host, port, path, hash, ...rest } = old;
  const { query: _query, ...parts } = urlParts(url);
  return { ...parts, ...rest };
}

/** What is the same as in the folder is left to it. */
function writeBehaviour(
  old: unknown,
  inherited: JsonObject,
  { followRedirects, verifyTls, httpVersion }: RequestEdit,
): JsonObject | undefined {
  if (followRedirects === undefined && verifyTls === undefined && httpVersion === undefined) return undefined;
  const { followRedirects: follows, strictSSL, protocolVersion, ...rest } = asObject(old) ?? {};
  const above = sendSettings(inherited);
  const own = sendSettings({ ...inherited, ...asObject(old) });
  const made = {
    ...rest,
    ...unlessSame('followRedirects', followRedirects ?? own.followRedirects, above.followRedirects),
    ...unlessSame('strictSSL', verifyTls ?? own.verifyTls, above.verifyTls),
    ...unlessSame('protocolVersion', httpVersion ?? own.httpVersion ?? 'auto', above.httpVersion ?? 'auto'),
  };
  return old === undefined && Object.keys(made).length === 0 ? undefined : made;
}

function unlessSame<Value>(name: string, wanted: Value, inherited: Value): JsonObject {
  return wanted === inherited ? {} : { [name]: wanted };
}
