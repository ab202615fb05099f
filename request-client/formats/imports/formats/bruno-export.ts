import { type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { folderItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import type { ImportedContent } from '../imported.js';
import { afterScript, brunoAuth, brunoItem, brunoPairs, scriptOf } from './bruno-request.js';

/** A collection that Bruno exported as one JSON file. */
export function readBrunoExport(value: unknown, findings: Findings): ImportedContent {
  const name = textOf(member(value, 'name')) ?? 'Bruno';
  const brunoConfig = member(value, 'brunoConfig');
  for (const key of ['proxy', 'clientCertificates', 'presets'])
    if (member(brunoConfig, key) !== undefined) findings.note(name, key, `Settings of Bruno are not imported: ${key}`);
  const root = groupOf(name, member(value, 'root'), itemsOf(member(value, 'items'), findings), findings);
  const variables = listOf(root.variable).map((row) => ({
    name: textOf(member(row, 'key')) ?? '',
    value: textOf(member(row, 'value')) ?? '',
  }));
  const { variable: _, ...folder } = root;
  return {
    items: [folder],
    variables,
    environments: listOf(member(value, 'environments')).map((environment) => ({
      name: textOf(member(environment, 'name')) ?? 'Bruno environment',
      rows: listOf(member(environment, 'variables')).flatMap((row) => {
        const [pair] = brunoPairs([row]);
        return pair === undefined
          ? []
          : [
              {
                name: pair.name,
                value: pair.value ?? '',
                enabled: pair.enabled,
                secret: member(row, 'secret') === true,
              },
            ];
      }),
    })),
  };
}

function itemsOf(list: unknown, findings: Findings): JsonObject[] {
  const seq = (one: unknown): number => Number(member(one, 'seq') ?? 0);
  const isFolder = (one: unknown): boolean => member(one, 'type') === 'folder';
  const all = [...listOf(list)];
  // Bruno shows folders first.
  const ordered = [...all.filter(isFolder), ...all.filter((one) => !isFolder(one)).sort((a, b) => seq(a) - seq(b))];
  return ordered.flatMap((item): JsonObject[] => {
    const name = textOf(member(item, 'name')) ?? '';
    const type = textOf(member(item, 'type')) ?? 'http';
    switch (type) {
      case 'folder':
        return [groupOf(name, member(item, 'root'), itemsOf(member(item, 'items'), findings), findings)];
      case 'http':
      case 'graphql':
      case 'http-request':
      case 'graphql-request':
        return [brunoItem(item, findings)];
      default:
        findings.warn(name, type, `Items of kind '${type}' are not imported`);
        return [];
    }
  });
}

function groupOf(name: string, root: unknown, items: readonly JsonObject[], findings: Findings): JsonObject {
  const request = member(root, 'request');
  if (brunoPairs(member(request, 'headers')).some(({ enabled }) => enabled))
    findings.warn(name, 'headers', 'Headers of folders are not supported: add them to the requests');
  return folderItem({
    name,
    items,
    auth: brunoAuth(member(request, 'auth'), name, findings),
    before: scriptOf(textOf(member(member(request, 'script'), 'req')), name, findings),
    after: afterScript(request, name, findings),
    description: textOf(member(root, 'docs')),
    variables: brunoPairs(member(member(request, 'vars'), 'req')),
  });
}
