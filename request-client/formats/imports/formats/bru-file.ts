import type { JsonObject } from '../../../engine/collection/json-access.js';
import { folderItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import { type ImportedContent, NOTHING } from '../imported.js';
import { type BruBlocks, type BruRow, readBruBlocks } from './bru-blocks.js';
import { afterScript, brunoAuth, brunoItem, brunoPairs, scriptOf } from './bruno-request.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace', 'connect'];
/** The names that bodies have as a block and in Bruno's JSON. */
const BODIES: Readonly<Record<string, string>> = {
  json: 'body:json',
  text: 'body:text',
  xml: 'body:xml',
  sparql: 'body:sparql',
  'form-urlencoded': 'body:form-urlencoded',
  'multipart-form': 'body:multipart-form',
  graphql: 'body:graphql',
  file: 'body:file',
};

/** One `.bru` file: a request, the settings of a folder or collection, or an environment. */
export function readBruFile(text: string, findings: Findings): ImportedContent {
  const blocks = readBruBlocks(text);
  const method =
    METHODS.find((one) => blocks.names.includes(one)) ?? (blocks.names.includes('http') ? 'http' : undefined);
  if (method !== undefined) return { ...NOTHING, items: [requestOf(blocks, method, findings)] };
  for (const kind of ['grpc', 'ws'])
    if (blocks.names.includes(kind)) findings.warn('', kind, `A request of kind '${kind}' is not imported`);
  if (blocks.names.some((name) => name === 'vars' || name === 'vars:secret')) return environmentOf(blocks);
  return groupOf(blocks, findings);
}

function requestOf(blocks: BruBlocks, method: string, findings: Findings): JsonObject {
  const meta = new Map(blocks.rows('meta').map(({ name, value }) => [name, value]));
  const line = new Map(blocks.rows(method).map(({ name, value }) => [name, value]));
  const known =
    /^(?:meta|headers|query|params:(?:query|path)|auth:[\w-]+|body(?::[\w-]+)*|vars:(?:pre-request|post-response)|script:(?:pre-request|post-response)|tests|assert|docs|settings|http)$/;
  for (const name of blocks.names) {
    if (!known.test(name) && !METHODS.includes(name))
      findings.warn(meta.get('name') ?? '', name, `The block '${name}' is not imported`);
  }
  const params = [
    ...blocks
      .rows(blocks.names.includes('params:query') ? 'params:query' : 'query')
      .map((row) => ({ ...row, type: 'query' })),
    ...blocks.rows('params:path').map((row) => ({ ...row, type: 'path' })),
  ];
  const settings = new Map(blocks.rows('settings').map(({ name, value }) => [name, value]));
  return brunoItem(
    {
      name: meta.get('name') ?? line.get('url') ?? 'Request',
      settings: { followRedirects: settings.get('followRedirects') !== 'false' },
      request: {
        method: method === 'http' ? (line.get('method') ?? 'GET') : method,
        url: line.get('url') ?? '',
        params,
        headers: blocks.rows('headers'),
        body: bodyOf(blocks, line.get('body')),
        auth: authOf(blocks, line.get('auth') ?? 'none'),
        vars: { req: blocks.rows('vars:pre-request'), res: blocks.rows('vars:post-response') },
        script: { req: blocks.text('script:pre-request'), res: blocks.text('script:post-response') },
        assertions: blocks.rows('assert'),
        tests: blocks.text('tests'),
        docs: blocks.text('docs'),
      },
    },
    findings,
  );
}

function bodyOf(blocks: BruBlocks, stated: string | undefined): JsonObject {
  const kind = stated ?? (blocks.names.includes('body') ? 'json' : 'none');
  const name = BODIES[kind] ?? '';
  // Older files name the block of JSON only `body`.
  const text = blocks.text(name) ?? (kind === 'json' ? blocks.text('body') : undefined) ?? '';
  switch (kind) {
    case 'json':
    case 'text':
    case 'xml':
    case 'sparql':
      return { mode: kind, [kind]: text };
    case 'form-urlencoded':
    case 'formUrlEncoded':
      return { mode: 'formUrlEncoded', formUrlEncoded: blocks.rows('body:form-urlencoded') };
    case 'multipart-form':
    case 'multipartForm':
      return { mode: 'multipartForm', multipartForm: blocks.rows('body:multipart-form').map(partOf) };
    case 'graphql':
      return { mode: kind, graphql: { query: text, variables: blocks.text('body:graphql:vars') ?? '' } };
    case 'file': {
      const file = blocks
        .rows('body:file')
        .map((row) => ({ filePath: partOf(row).value[0] ?? '', selected: row.enabled }));
      return { mode: kind, file };
    }
    default:
      return { mode: kind };
  }
}

/** `@file(a|b)` names files; `@contentType(type)` may follow a value. */
function partOf({ name, value, enabled }: BruRow) {
  const [, bare = value, contentType = ''] = /^([\s\S]*?)\s*@contentType\(([^)]*)\)\s*$/.exec(value) ?? [];
  const [, files] = /^@file\(([\s\S]*)\)$/.exec(bare.trim()) ?? [];
  return files === undefined
    ? { name, enabled, type: 'text', value: bare, contentType }
    : { name, enabled, type: 'file', value: files.split('|'), contentType };
}

/** Settings have snake case in some blocks, and camel case in JSON. */
function authOf(blocks: BruBlocks, stated: string): JsonObject {
  const rows = blocks.rows(`auth:${stated}`).map(({ name, value }) => {
    const key = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [key, value === 'true' ? true : value === 'false' ? false : value] as const;
  });
  return { mode: stated, [stated]: Object.fromEntries(rows) };
}

function groupOf(blocks: BruBlocks, findings: Findings): ImportedContent {
  const name = blocks.rows('meta').find((row) => row.name === 'name')?.value ?? 'Bruno';
  const mode = blocks.rows('auth').find((row) => row.name === 'mode')?.value ?? 'none';
  if (blocks.rows('headers').length > 0)
    findings.warn(name, 'headers', 'Headers of folders are not supported: add them to the requests');
  const folder = folderItem({
    name,
    items: [],
    auth: mode === 'none' || mode === 'inherit' ? null : brunoAuth(authOf(blocks, mode), name, findings),
    before: scriptOf(blocks.text('script:pre-request'), name, findings),
    after: afterScript(
      { script: { res: blocks.text('script:post-response') }, tests: blocks.text('tests') },
      name,
      findings,
    ),
    description: blocks.text('docs'),
    variables: brunoPairs(blocks.rows('vars:pre-request')),
  });
  return { ...NOTHING, items: [folder] };
}

function environmentOf(blocks: BruBlocks): ImportedContent {
  const secrets = (blocks.text('vars:secret') ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const rows = [
    ...blocks.rows('vars').map((row) => ({ ...row, secret: false })),
    ...secrets.map((name) => ({
      name: name.replace(/^~/, ''),
      value: '',
      enabled: !name.startsWith('~'),
      secret: true,
    })),
  ];
  return { ...NOTHING, environments: [{ name: 'Bruno environment', rows }] };
}
