import type { Collection } from '../../engine/collection/collection.js';
import type { JsonObject } from '../../engine/collection/json-access.js';
import { member } from '../../engine/collection/json-access.js';
import { readGroupForm } from '../../engine/forms/group-form.js';
import type { AuthForm, BodyForm } from '../../protocol/request-window.js';
import type { Findings } from '../imports/findings.js';
import { BRUNO_SCRIPT_HEAD } from '../imports/formats/bruno-request.js';
import { docsOf, type ExportedNode, exportedTree } from './exported-tree.js';

/** A collection as the one JSON file that Bruno imports. */
export function exportBruno(collection: Collection, findings: Findings): string {
  const root = readGroupForm(collection, [], () => '');
  const { name } = collection;
  const value = {
    name,
    version: '1',
    items: exportedTree(collection).map((node, index) => itemOf(node, index + 1, findings)),
    environments: [],
    root: rootOf(root, docsOf(member(collection.root, 'info')), findings),
    brunoConfig: { version: '1', name, type: 'collection' },
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

function itemOf(node: ExportedNode, seq: number, findings: Findings): JsonObject {
  if (node.kind === 'folder') {
    const { form, docs, children } = node;
    return {
      type: 'folder',
      name: form.name,
      seq,
      root: { ...rootOf(form, docs, findings), meta: { name: form.name, seq } },
      items: children.map((child, index) => itemOf(child, index + 1, findings)),
    };
  }
  const { form, docs } = node;
  const params = [
    ...form.params.map(({ name, value, enabled }) => ({ name, value: value ?? '', type: 'query', enabled })),
    ...form.pathVariables.map(({ name, value }) => ({ name, value, type: 'path', enabled: true })),
  ];
  return {
    type: form.body.mode === 'graphql' ? 'graphql' : 'http',
    name: form.name,
    seq,
    settings: { encodeUrl: true, followRedirects: form.followRedirects },
    request: {
      url: form.url,
      method: form.method,
      headers: form.headers.map(({ name, value, enabled }) => ({ name, value, enabled })),
      params,
      body: bodyOf(form.body, form.name, findings),
      auth: authOf(form.auth, form.name, findings),
      script: { req: scriptText(form.before, form.name, findings), res: '' },
      vars: { req: [], res: [] },
      assertions: [],
      tests: scriptText(form.after, form.name, findings),
      docs,
    },
  };
}

interface Group {
  readonly name: string;
  readonly auth: AuthForm;
  readonly before: string;
  readonly after: string;
  readonly variables: readonly { readonly name: string; readonly value: string; readonly enabled: boolean }[];
}

function rootOf({ name, auth, before, after, variables }: Group, docs: string, findings: Findings): JsonObject {
  return {
    request: {
      headers: [],
      auth: authOf(auth, name, findings),
      script: { req: scriptText(before, name, findings), res: '' },
      vars: { req: variables.map((row) => ({ name: row.name, value: row.value, enabled: row.enabled })), res: [] },
      tests: scriptText(after, name, findings),
    },
    docs,
  };
}

/** A script that was imported from Bruno is given back as it was. */
function scriptText(text: string, place: string, findings: Findings): string {
  if (text.startsWith(BRUNO_SCRIPT_HEAD)) return text.slice(BRUNO_SCRIPT_HEAD.length);
  if (/\bpm\b/.test(text))
    findings.warn(place, 'pm', 'Scripts use the names of Postman (pm), which Bruno does not have');
  return text;
}

function bodyOf(body: BodyForm, place: string, findings: Findings): JsonObject {
  switch (body.mode) {
    case 'none':
      return { mode: 'none' };
    case 'raw': {
      const mode = body.language === 'json' || body.language === 'xml' ? body.language : 'text';
      return { mode, [mode]: body.text };
    }
    case 'urlencoded':
      return { mode: 'formUrlEncoded', formUrlEncoded: body.rows };
    case 'formdata':
      return {
        mode: 'multipartForm',
        multipartForm: body.rows.map(({ name, value, file, enabled }) =>
          file ? { type: 'file', name, value: [value], enabled } : { type: 'text', name, value, enabled },
        ),
      };
    case 'file':
      return { mode: 'file', file: [{ filePath: body.path, selected: true }] };
    case 'graphql':
      return { mode: 'graphql', graphql: { query: body.query, variables: body.variables } };
    default:
      findings.warn(place, body.mode, `A body that is ${body.what} is not exported`);
      return { mode: 'none' };
  }
}

function authOf({ type, settings }: AuthForm, place: string, findings: Findings): JsonObject {
  const get = (key: string): string => settings[key] ?? '';
  switch (type) {
    case 'inherit':
      return { mode: 'inherit' };
    case 'noauth':
      return { mode: 'none' };
    case 'basic':
    case 'digest':
      return { mode: type, [type]: { username: get('username'), password: get('password') } };
    case 'ntlm':
      return { mode: type, ntlm: { username: get('username'), password: get('password'), domain: get('domain') } };
    case 'bearer':
      return { mode: type, bearer: { token: get('token') } };
    case 'apikey':
      return {
        mode: type,
        apikey: { key: get('key'), value: get('value'), placement: get('in') === 'query' ? 'queryparams' : 'header' },
      };
    case 'awsv4':
      return {
        mode: type,
        awsv4: {
          accessKeyId: get('accessKey'),
          secretAccessKey: get('secretKey'),
          sessionToken: get('sessionToken'),
          service: get('service'),
          region: get('region'),
          profileName: '',
        },
      };
    case 'oauth2': {
      const grant = get('grant_type');
      const byUser = grant !== 'client_credentials';
      return {
        mode: type,
        oauth2: {
          grantType: byUser ? 'authorization_code' : grant,
          ...(byUser
            ? {
                authorizationUrl: get('authorizationUrl'),
                callbackUrl: 'http://127.0.0.1:8080/callback',
                state: '',
                pkce: grant === 'authorization_code_with_pkce',
              }
            : {}),
          accessTokenUrl: get('url'),
          clientId: get('client_id'),
          clientSecret: get('client_secret'),
          scope: get('scope'),
          credentialsPlacement: get('client_authentication') === 'body' ? 'body' : 'basic_auth_header',
          tokenPlacement: get('addTokenTo') === 'queryParams' ? 'url' : 'header',
          ...(get('addTokenTo') === 'queryParams' ? {} : { tokenHeaderPrefix: get('headerPrefix') || 'Bearer' }),
        },
      };
    }
    default:
      findings.warn(place, type, `The authorization '${type}' is not exported`);
      return { mode: 'inherit' };
  }
}
