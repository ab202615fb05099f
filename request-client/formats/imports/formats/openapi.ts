import type { ImportedVariable } from '../../../curl/import/import-curl.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { folderItem, type ImportedPair, requestItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';
import { openApiBody } from './openapi-body.js';
import { exampleOf } from './openapi-example.js';
import { References } from './openapi-references.js';
import { SECURITY_VARIABLES, securityAuth } from './openapi-security.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/** An OpenAPI 3 or Swagger 2 document: one request for each operation, in a folder for its first tag. */
export function readOpenApi(root: unknown, findings: Findings): ImportedContent {
  const references = new References(root, findings);
  const title = textOf(member(member(root, 'info'), 'title')) ?? 'API';
  const groups = new Map<string, JsonObject[]>();
  const schemes = member(member(root, 'components'), 'securitySchemes') ?? member(root, 'securityDefinitions');
  for (const [path, given] of Object.entries(asObject(member(root, 'paths')) ?? {})) {
    const shared = references.resolve(given);
    for (const method of METHODS) {
      const operation = member(shared, method);
      if (asObject(operation) === undefined) continue;
      const item = itemOf({ path, method, shared, operation, root, references, schemes, findings });
      const tag = textOf(listOf(member(operation, 'tags'))[0]) ?? '';
      groups.set(tag, [...(groups.get(tag) ?? []), item]);
    }
  }
  for (const key of ['webhooks', 'x-webhooks'])
    if (member(root, key) !== undefined) findings.warn('', key, 'Webhooks are not imported');
  const folders = [...groups].flatMap(([tag, items]) =>
    tag === '' ? items : [folderItem({ name: tag, items, description: tagText(root, tag) })],
  );
  const auth = securityAuth(member(root, 'security'), schemes, references, title, findings);
  if (folders.length === 0) return { items: [], variables: [], environments: [] };
  const folder = folderItem({
    name: title,
    items: folders,
    auth,
    description: textOf(member(member(root, 'info'), 'description')),
  });
  const used = JSON.stringify(folder);
  return {
    items: [folder],
    variables: [
      ...serverVariables(root, references, findings),
      ...SECURITY_VARIABLES.filter((name) => used.includes(`{{${name}}}`)).map((name) => ({ name, value: '' })),
    ],
    environments: [],
  };
}

interface Operation {
  readonly path: string;
  readonly method: string;
  /** What belongs to all operations of the path. */
  readonly shared: unknown;
  readonly operation: unknown;
  readonly root: unknown;
  readonly references: References;
  readonly schemes: unknown;
  readonly findings: Findings;
}

function itemOf({ path, method, shared, operation, root, references, schemes, findings }: Operation): JsonObject {
  const name =
    textOf(member(operation, 'summary')) ??
    textOf(member(operation, 'operationId')) ??
    `${method.toUpperCase()} ${path}`;
  const parameters = parametersOf(shared, operation, references);
  const rows = (place: string): ImportedPair[] =>
    parameters
      .filter((parameter) => member(parameter, 'in') === place)
      .map((parameter) => rowOf(parameter, references));
  const cookies = rows('cookie').filter(({ enabled }) => enabled);
  const body = openApiBody(operation, root, parameters, references, name, findings);
  if (member(operation, 'callbacks') !== undefined) findings.warn(name, 'callbacks', 'Callbacks are not imported');
  if (listOf(member(operation, 'servers')).length > 0 || listOf(member(shared, 'servers')).length > 0)
    findings.warn(name, 'servers', 'Servers of single operations are not imported: all use {{baseUrl}}');
  return requestItem({
    name,
    method: method.toUpperCase(),
    url: `{{baseUrl}}${path.replace(/\{([^{}/]+)\}/g, (all, own: string, at: number) => (path[at - 1] === '/' ? `:${own}` : `{${all}}`))}`,
    query: rows('query').map((row) => ({
      ...row,
      name: encodeURIComponent(row.name),
      value: encodeURIComponent(row.value ?? ''),
    })),
    pathVariables: rows('path').map((row) => ({ ...row, enabled: true })),
    headers: [
      ...rows('header').filter((row) => !/^(?:accept|content-type|authorization)$/i.test(row.name)),
      ...(cookies.length === 0
        ? []
        : [
            { name: 'Cookie', value: cookies.map((row) => `${row.name}=${row.value ?? ''}`).join('; '), enabled: true },
          ]),
      ...(body.contentType === null ? [] : [{ name: 'Content-Type', value: body.contentType, enabled: true }]),
    ],
    body: body.body,
    auth: securityAuth(member(operation, 'security'), schemes, references, name, findings),
    description: textOf(member(operation, 'description')),
  });
}

/** Parameters of an operation replace those of its path with the same name and place. */
function parametersOf(shared: unknown, operation: unknown, references: References): unknown[] {
  const own = new Map<string, unknown>();
  for (const given of [...listOf(member(shared, 'parameters')), ...listOf(member(operation, 'parameters'))]) {
    const parameter = references.resolve(given);
    if (parameter === undefined) continue;
    own.set(`${textOf(member(parameter, 'in'))} ${textOf(member(parameter, 'name'))}`, parameter);
  }
  return [...own.values()];
}

/** An optional parameter is there, but switched off. */
export function rowOf(parameter: unknown, references: References): ImportedPair {
  const stated =
    member(parameter, 'example') ??
    member(references.resolve(Object.values(asObject(member(parameter, 'examples')) ?? {})[0]), 'value');
  const schema =
    member(parameter, 'schema') ??
    Object.values(asObject(member(parameter, 'content')) ?? {}).map((one) => member(one, 'schema'))[0] ??
    parameter;
  const value = stated ?? exampleOf(schema, references);
  const shown = Array.isArray(value)
    ? value.map((one) => textOf(one) ?? JSON.stringify(one)).join(',')
    : (textOf(value) ?? JSON.stringify(value) ?? '');
  return {
    name: textOf(member(parameter, 'name')) ?? '',
    value: shown === 'null' ? '' : shown,
    enabled: member(parameter, 'required') === true,
    description: textOf(member(parameter, 'description')),
  };
}

/** `baseUrl`, and the variables of the first server. */
function serverVariables(root: unknown, references: References, findings: Findings): ImportedVariable[] {
  if (member(root, 'swagger') !== undefined) {
    const host = textOf(member(root, 'host')) ?? '';
    const schemes = listOf(member(root, 'schemes')).map(String);
    const scheme = schemes.includes('https') || schemes.length === 0 ? 'https' : (schemes[0] ?? 'https');
    if (host === '') findings.warn('', 'host', 'The document has no host: set the variable baseUrl');
    const path = (textOf(member(root, 'basePath')) ?? '').replace(/\/$/, '');
    return [{ name: 'baseUrl', value: host === '' ? path : `${scheme}://${host}${path}` }];
  }
  const servers = listOf(member(root, 'servers'));
  const server = references.resolve(servers[0]);
  const url = (textOf(member(server, 'url')) ?? '').replace(/\/$/, '');
  if (!/^(?:https?:|\{)/i.test(url))
    findings.warn('', 'servers', 'The document has no complete server URL: set the variable baseUrl');
  if (servers.length > 1) findings.note('', 'servers', 'Of several servers, the first one is imported as baseUrl');
  const variables = Object.entries(asObject(member(server, 'variables')) ?? {});
  return [
    { name: 'baseUrl', value: url.replace(/\{([^{}]+)\}/g, '{{$1}}') },
    ...variables.map(([name, variable]) => ({ name, value: textOf(member(variable, 'default')) ?? '' })),
  ];
}

function tagText(root: unknown, tag: string): string | undefined {
  const found = listOf(member(root, 'tags')).find((one) => member(one, 'name') === tag);
  return textOf(member(found, 'description'));
}
