import { type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { folderItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';
import { insomniaEnvironment, insomniaVariables } from './insomnia-environments.js';
import { insomniaAuth, insomniaItem, insomniaPairs, scriptOf } from './insomnia-request.js';

/** An Insomnia 5 file: a collection, the collection of an API design, or an environment. */
export function readInsomnia5(value: unknown, findings: Findings): ImportedContent {
  const type = textOf(member(value, 'type')) ?? '';
  const name = textOf(member(value, 'name')) ?? 'Insomnia';
  if (type.startsWith('mock.') || type.startsWith('mcpClient.'))
    findings.warn(name, type, `A file of type '${type}' has nothing that can be imported`);
  const list = member(value, 'collection');
  const base = member(value, 'environments') ?? (type.startsWith('environment.') ? value : undefined);
  const isEnvironment = type.startsWith('environment.');
  if (member(value, 'spec') !== undefined)
    findings.warn(name, 'spec', 'The API specification of the file is not imported; import it by itself');
  if (listOf(member(value, 'testSuites')).length > 0) findings.warn(name, 'testSuites', 'Unit tests are not imported');
  if (listOf(member(member(value, 'cookieJar'), 'cookies')).length > 0)
    findings.warn(name, 'cookieJar', 'Cookies are not imported');
  const items = inOrder(list).flatMap((one) => itemsOf(one, findings));
  return {
    items: items.length === 0 ? [] : [folderItem({ name, description: descriptionOf(value), items })],
    variables: isEnvironment ? [] : insomniaVariables(member(base, 'data'), name, findings),
    environments: [
      ...(isEnvironment ? [insomniaEnvironment({ name, data: member(base, 'data') }, findings)] : []),
      ...listOf(member(base, 'subEnvironments')).map((one) => insomniaEnvironment(one, findings)),
    ],
  };
}

function itemsOf(value: unknown, findings: Findings): JsonObject[] {
  const name = textOf(member(value, 'name')) ?? '';
  const id = textOf(member(member(value, 'meta'), 'id')) ?? '';
  if (
    member(value, 'children') !== undefined ||
    (member(value, 'method') === undefined && member(value, 'url') === undefined)
  ) {
    return [folderOf(value, name, findings)];
  }
  const left = id.startsWith('ws-req')
    ? 'WebSocket requests'
    : id.startsWith('socketio-req')
      ? 'Socket.IO requests'
      : member(value, 'protoMethodName') !== undefined || member(value, 'reflectionApi') !== undefined
        ? 'gRPC requests'
        : null;
  if (left !== null) {
    findings.warn(name, left, `${left} are not imported`);
    return [];
  }
  const scripts = member(value, 'scripts');
  const settings = member(value, 'settings');
  return [
    insomniaItem(
      {
        value,
        before: textOf(member(scripts, 'preRequest')),
        after: textOf(member(scripts, 'afterResponse')),
        description: descriptionOf(value),
        followRedirects: textOf(member(settings, 'followRedirects')),
        encodeUrl: member(settings, 'encodeUrl'),
      },
      findings,
    ),
  ];
}

function folderOf(value: unknown, name: string, findings: Findings): JsonObject {
  if (listOf(member(value, 'headers')).length > 0)
    findings.warn(name, 'headers', 'Headers of folders are not supported: add them to the requests');
  const scripts = member(value, 'scripts');
  const variables = insomniaVariables(member(value, 'environment'), name, findings);
  return folderItem({
    name,
    items: inOrder(member(value, 'children')).flatMap((one) => itemsOf(one, findings)),
    description: descriptionOf(value),
    auth: insomniaAuth(member(value, 'authentication'), name, findings),
    before: scriptOf(textOf(member(scripts, 'preRequest'))),
    after: scriptOf(textOf(member(scripts, 'afterResponse'))),
    variables: insomniaPairs(variables, name, findings),
  });
}

function inOrder(list: unknown): unknown[] {
  const key = (one: unknown): number => Number(member(member(one, 'meta'), 'sortKey') ?? 0);
  return [...listOf(list)].sort((one, other) => key(one) - key(other));
}

function descriptionOf(value: unknown): string | undefined {
  return textOf(member(member(value, 'meta'), 'description'));
}
