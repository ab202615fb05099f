import type { ParamRow, RequestEdit, RequestForm } from '../../protocol/request-window.js';
import { authPath } from '../collection/auth.js';
import type { Collection, CollectionPath } from '../collection/collection.js';
import { folderValues } from '../collection/folder-variables.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { composedUrl, httpVersionIn } from '../collection/read-request.js';
import { urlParts } from '../collection/write-request.js';
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
  const url = textOf(stored) ?? textOf(member(stored, 'raw')) ?? composedUrl(stored);
  const behaviour = member(item, 'protocolProfileBehavior');
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
    followRedirects: member(behaviour, 'followRedirects') !== false,
    verifyTls: member(behaviour, 'strictSSL') !== false,
    httpVersion: httpVersionIn(member(behaviour, 'protocolVersion')).httpVersion ?? 'auto',
    inherited: inheritedAuth(collection, path, idOf),
    folderValues: folderValues(collection, path),
  };
}

/** The URL determines which parameters are sent; the stored list adds the disabled ones and their positions. */
function readParams(url: string, query: unknown): ParamRow[] {
  const [, text] = /\?([^#]*)/.exec(url) ?? [];
  const sent = text === undefined ? [] : text.split('&').map(paramOf);
  const rows: ParamRow[] = [];
  for (const entry of listOf(query)) {
    if (!isEnabled(entry)) {
      rows.push({ ...pairOf(entry), enabled: false });
    } else {
      const next = sent.shift();
      if (next !== undefined) rows.push(next);
    }
  }
  return [...rows, ...sent];
}

function pairOf(entry: unknown): { name: string; value: string | null } {
  return { name: textOf(member(entry, 'key')) ?? '', value: textOf(member(entry, 'value')) ?? null };
}

function paramOf(text: string): ParamRow {
  const at = text.indexOf('=');
  return at === -1
    ? { name: text, value: null, enabled: true }
    : { name: text.slice(0, at), value: text.slice(at + 1), enabled: true };
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
  const behaviour = writeBehaviour(item().protocolProfileBehavior, edit);
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
  const { raw: _raw, protocol: _protocol, host: _host, port: _port, path: _path, hash: _hash, ...rest } = old;
  const { query: _query, ...parts } = urlParts(url);
  return { ...parts, ...rest };
}

function writeBehaviour(
  old: unknown,
  { followRedirects, verifyTls, httpVersion }: RequestEdit,
): JsonObject | undefined {
  if (followRedirects === undefined && verifyTls === undefined && httpVersion === undefined) return undefined;
  const { followRedirects: follows, strictSSL: verifies, protocolVersion, ...rest } = asObject(old) ?? {};
  const off = (wanted: boolean | undefined, own: unknown): boolean => (wanted ?? own !== false) === false;
  const version = httpVersion ?? protocolVersion;
  const made = {
    ...rest,
    ...(off(followRedirects, follows) ? { followRedirects: false } : {}),
    ...(off(verifyTls, verifies) ? { strictSSL: false } : {}),
    ...(version === undefined || version === 'auto' ? {} : { protocolVersion: version }),
  };
  return old === undefined && Object.keys(made).length === 0 ? undefined : made;
}
