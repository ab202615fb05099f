import { type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { folderItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';
import { insomniaEnvironment, insomniaVariables } from './insomnia-environments.js';
import { insomniaAuth, insomniaItem, insomniaPairs, scriptOf } from './insomnia-request.js';

/** Resources that have no place in a collection, and how they are called. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  grpc_request: 'gRPC requests',
  websocket_request: 'WebSocket requests',
  socketio_request: 'Socket.IO requests',
  mcp_request: 'MCP requests',
  unit_test_suite: 'Unit tests',
  cookie_jar: 'Cookies',
  api_spec: 'API specifications (import them as a file of their own)',
  mock_server: 'Mock servers',
  proto_file: 'Protocol buffer files',
};

/** An Insomnia export of format 3 or 4: a flat list of resources that name their parents. */
export function readInsomnia4(value: unknown, findings: Findings): ImportedContent {
  const resources = listOf(member(value, 'resources'));
  const below = new Map<string, unknown[]>();
  for (const resource of resources) {
    const parent = textOf(member(resource, 'parentId')) ?? '';
    below.set(parent, [...(below.get(parent) ?? []), resource]);
    const left = LEFT_OUT[typeOf(resource)];
    if (left === undefined) continue;
    if (typeOf(resource) === 'cookie_jar' && listOf(member(resource, 'cookies')).length === 0) continue;
    if (typeOf(resource) === 'api_spec' && (textOf(member(resource, 'contents')) ?? '') === '') continue;
    findings.warn(textOf(member(resource, 'name')) ?? '', typeOf(resource), `${left} are not imported`);
  }
  const taken = new Set<unknown>();
  const itemsOf = (parent: string): JsonObject[] =>
    [...(below.get(parent) ?? [])]
      .sort((one, other) => Number(member(one, 'metaSortKey') ?? 0) - Number(member(other, 'metaSortKey') ?? 0))
      .flatMap((resource) => {
        if (taken.has(resource)) return [];
        taken.add(resource);
        if (typeOf(resource) === 'request') return [itemOf(resource, findings)];
        return typeOf(resource) === 'request_group' ? [folderOf(resource, itemsOf(idOf(resource)), findings)] : [];
      });
  const workspaces = resources.filter((resource) => typeOf(resource) === 'workspace');
  const folders = workspaces.map((workspace) =>
    folderItem({
      name: textOf(member(workspace, 'name')) ?? 'Insomnia',
      description: textOf(member(workspace, 'description')),
      items: itemsOf(idOf(workspace)),
    }),
  );
  // A part of a workspace can be exported without it.
  const ids = new Set(resources.map(idOf));
  const loose = [...below.keys()].filter((parent) => !ids.has(parent)).flatMap(itemsOf);
  const environments = resources.filter((resource) => typeOf(resource) === 'environment');
  const isBase = (one: unknown): boolean => workspaces.some((workspace) => idOf(workspace) === member(one, 'parentId'));
  return {
    items: [...folders.filter((folder) => listOf(folder.item).length > 0), ...loose],
    variables: environments
      .filter(isBase)
      .flatMap((one) => insomniaVariables(member(one, 'data'), 'environment', findings)),
    environments: environments.filter((one) => !isBase(one)).map((one) => insomniaEnvironment(one, findings)),
  };
}

function folderOf(resource: unknown, items: readonly JsonObject[], findings: Findings): JsonObject {
  const name = textOf(member(resource, 'name')) ?? 'Folder';
  if (listOf(member(resource, 'headers')).length > 0)
    findings.warn(name, 'headers', 'Headers of folders are not supported: add them to the requests');
  const variables = insomniaVariables(member(resource, 'environment'), name, findings);
  return folderItem({
    name,
    items,
    description: textOf(member(resource, 'description')),
    auth: insomniaAuth(member(resource, 'authentication'), name, findings),
    before: scriptOf(textOf(member(resource, 'preRequestScript'))),
    after: scriptOf(textOf(member(resource, 'afterResponseScript'))),
    variables: insomniaPairs(variables, name, findings),
  });
}

function itemOf(resource: unknown, findings: Findings): JsonObject {
  return insomniaItem(
    {
      value: resource,
      before: textOf(member(resource, 'preRequestScript')),
      after: textOf(member(resource, 'afterResponseScript')),
      description: textOf(member(resource, 'description')),
      followRedirects: textOf(member(resource, 'settingFollowRedirects')),
      encodeUrl: member(resource, 'settingEncodeUrl'),
    },
    findings,
  );
}

function typeOf(resource: unknown): string {
  return textOf(member(resource, '_type')) ?? '';
}

function idOf(resource: unknown): string {
  return textOf(member(resource, '_id')) ?? '';
}
