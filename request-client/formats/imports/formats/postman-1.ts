import {
  asObject,
  enabledPairs,
  type JsonObject,
  listOf,
  member,
  textOf,
} from '../../../engine/collection/json-access.js';
import { authOf, entry, folderItem, type ImportedPair, languageOf, rawBody, requestItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';
import { environmentOf } from './postman-environment.js';

/** A Postman collection of format v1, or a dump of all data of that time. */
export function readPostman1(value: unknown, findings: Findings): ImportedContent {
  const collections = Array.isArray(member(value, 'collections')) ? listOf(member(value, 'collections')) : [value];
  const globals = listOf(member(value, 'globals'));
  if (listOf(member(value, 'headerPresets')).length > 0)
    findings.warn('', 'headerPresets', 'Header presets are not imported');
  return {
    items: collections.map((collection) => folderOf(collection, findings)),
    variables: collections.flatMap((collection) =>
      enabledPairs(member(collection, 'variables')).map(({ key, value: own }) => ({ name: key, value: own })),
    ),
    environments: [
      ...listOf(member(value, 'environments')).map(environmentOf),
      ...(globals.length === 0 ? [] : [environmentOf({ name: 'Globals', values: globals })]),
    ],
  };
}

function folderOf(collection: unknown, findings: Findings): JsonObject {
  const requests = new Map(listOf(member(collection, 'requests')).map((request) => [idOf(request), request]));
  const folders = new Map(listOf(member(collection, 'folders')).map((folder) => [idOf(folder), folder]));
  /** Each request and folder is taken once, also if the lists of ids name it twice or make a circle. */
  const taken = new Set<string>();
  const take = (ids: unknown): string[] =>
    listOf(ids).flatMap((one) => {
      const id = textOf(one);
      if (id === undefined || taken.has(id)) return [];
      taken.add(id);
      return [id];
    });
  const itemsOf = (owner: unknown): JsonObject[] => [
    ...take(member(owner, 'folders_order')).flatMap((id) => {
      const folder = folders.get(id);
      return folder === undefined ? [] : [made(folder)];
    }),
    ...take(member(owner, 'order')).flatMap((id) => {
      const request = requests.get(id);
      return request === undefined ? [] : [itemOf(request, findings)];
    }),
  ];
  const made = (folder: unknown): JsonObject =>
    folderItem({
      ...settingsOf(folder, findings),
      name: textOf(member(folder, 'name')) ?? 'Folder',
      items: itemsOf(folder),
    });
  const ordered = itemsOf(collection);
  const rest = [
    ...take([...folders.keys()]).flatMap((id) => (folders.has(id) ? [made(folders.get(id))] : [])),
    ...take([...requests.keys()]).flatMap((id) => (requests.has(id) ? [itemOf(requests.get(id), findings)] : [])),
  ];
  return folderItem({
    ...settingsOf(collection, findings),
    name: textOf(member(collection, 'name')) ?? 'Postman collection',
    items: [...ordered, ...rest],
  });
}

function settingsOf(owner: unknown, findings: Findings) {
  const place = textOf(member(owner, 'name')) ?? '';
  return {
    auth: asObject(member(owner, 'auth')) ?? helperAuth(owner, place, findings),
    before: scriptOf(owner, 'prerequest', 'preRequestScript'),
    after: scriptOf(owner, 'test', 'tests'),
    description: textOf(member(owner, 'description')),
  };
}

function itemOf(request: unknown, findings: Findings): JsonObject {
  const name = textOf(member(request, 'name')) ?? textOf(member(request, 'url')) ?? 'Request';
  const headers = headersOf(request);
  const type = headers.find((header) => /^content-type$/i.test(header.name))?.value ?? '';
  if (listOf(member(request, 'responses')).length > 0)
    findings.note(name, 'responses', 'Saved responses of format v1 are not imported');
  const stored = textOf(member(request, 'url')) ?? '';
  const query = listOf(member(request, 'queryParams')).filter((row) => member(row, 'enabled') === false);
  return requestItem({
    ...settingsOf(request, findings),
    name,
    method: textOf(member(request, 'method')) ?? 'GET',
    url: stored,
    query: query.map(rowOf),
    headers,
    pathVariables: pathVariablesOf(request),
    body: bodyOf(request, type ?? '', name, findings),
  });
}

function headersOf(request: unknown): ImportedPair[] {
  const data = listOf(member(request, 'headerData'));
  if (data.length > 0) return data.map(rowOf);
  return (textOf(member(request, 'headers')) ?? '').split(/\r?\n/).flatMap((line) => {
    const [, off, name, value = ''] = /^\s*(\/\/)?\s*([^:]+?)\s*:\s*(.*)$/s.exec(line) ?? [];
    return name === undefined ? [] : [{ name, value, enabled: off === undefined }];
  });
}

function rowOf(row: unknown): ImportedPair {
  return {
    name: textOf(member(row, 'key')) ?? '',
    value: textOf(member(row, 'value')) ?? '',
    enabled: member(row, 'enabled') !== false && member(row, 'disabled') !== true,
    description: textOf(member(row, 'description')),
  };
}

function pathVariablesOf(request: unknown): ImportedPair[] {
  const data = listOf(member(request, 'pathVariableData'));
  if (data.length > 0) return data.map(rowOf);
  return Object.entries(asObject(member(request, 'pathVariables')) ?? {}).map(([name, value]) => ({
    name,
    value: textOf(value) ?? '',
    enabled: true,
  }));
}

function bodyOf(request: unknown, type: string, place: string, findings: Findings): JsonObject | null {
  const data = member(request, 'data');
  switch (member(request, 'dataMode')) {
    case 'raw': {
      const text = textOf(member(request, 'rawModeData')) ?? textOf(data) ?? textOf(listOf(data)[0]) ?? '';
      return text === '' ? null : rawBody(text, languageOf(type));
    }
    case 'urlencoded':
      return { mode: 'urlencoded', urlencoded: listOf(data).map((row) => entry(rowOf(row))) };
    case 'params': {
      const rows = listOf(data);
      if (rows.length === 0) return null;
      return {
        mode: 'formdata',
        formdata: rows.map((row) => {
          const { value, ...rest } = entry(rowOf(row));
          const isFile = member(row, 'type') === 'file';
          if (isFile) findings.warn(place, 'file', 'Files of forms are kept by name only: check their paths');
          return isFile ? { ...rest, type: 'file', src: value } : { ...rest, type: 'text', value };
        }),
      };
    }
    case 'binary': {
      const path = textOf(member(request, 'rawModeData'));
      findings.warn(place, 'binary', 'The body is a file that the export does not contain: choose it in the Body tab');
      return path === undefined ? null : { mode: 'file', file: { src: path } };
    }
    case 'graphql': {
      const graphql = member(request, 'graphqlModeData');
      return {
        mode: 'graphql',
        graphql: {
          query: textOf(member(graphql, 'query')) ?? '',
          variables: textOf(member(graphql, 'variables')) ?? '',
        },
      };
    }
    default:
      return null;
  }
}

/** The names that settings of a helper have in v2.1. */
const HELPER_TYPES: Readonly<Record<string, string>> = {
  basicAuth: 'basic',
  bearerAuth: 'bearer',
  digestAuth: 'digest',
  hawkAuth: 'hawk',
  awsSigV4: 'awsv4',
  oAuth1: 'oauth1',
  oAuth2: 'oauth2',
  ntlmAuth: 'ntlm',
};

/** Authorization as versions before 2017 wrote it. */
function helperAuth(owner: unknown, place: string, findings: Findings): JsonObject | null {
  const helper = textOf(member(owner, 'currentHelper'));
  if (helper === undefined || helper === 'normal') return null;
  const type = HELPER_TYPES[helper];
  if (type === undefined) {
    findings.warn(place, helper, `The authorization '${helper}' is not imported`);
    return null;
  }
  const { id: _, ...settings } = asObject(member(owner, 'helperAttributes')) ?? {};
  return authOf(type, settings);
}

function scriptOf(owner: unknown, listen: string, old: string): string {
  const exec = listOf(member(owner, 'events')).find((event) => member(event, 'listen') === listen);
  const script = member(member(exec, 'script'), 'exec');
  if (typeof script === 'string') return script;
  const lines = listOf(script);
  return lines.length > 0 ? lines.map((line) => textOf(line) ?? '').join('\n') : (textOf(member(owner, old)) ?? '');
}

function idOf(value: unknown): string {
  return textOf(member(value, 'id')) ?? '';
}
