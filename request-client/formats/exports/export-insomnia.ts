import { createHash } from 'node:crypto';
import type { Collection } from '../../engine/collection/collection.js';
import type { JsonObject } from '../../engine/collection/json-access.js';
import { enabledPairs, member } from '../../engine/collection/json-access.js';
import { readGroupForm } from '../../engine/forms/group-form.js';
import type { AuthForm, BodyForm } from '../../protocol/request-window.js';
import type { Findings } from '../imports/findings.js';
import { INSOMNIA_SCRIPT_HEAD, POSTMAN_IN_INSOMNIA } from '../imports/formats/insomnia-request.js';
import { writeYaml } from '../imports/yaml-text.js';
import { docsOf, type ExportedNode, exportedTree } from './exported-tree.js';

/** A collection as an Insomnia 5 file. */
export function exportInsomnia(collection: Collection, findings: Findings): string {
  const writer = new InsomniaWriter(collection.text, findings);
  const root = readGroupForm(collection, [], () => '');
  const children = exportedTree(collection).map((node, index) => writer.node(node, index));
  const hasRoot = root.auth.type !== 'inherit' || root.before !== '' || root.after !== '';
  if (hasRoot)
    findings.note('', 'root', 'Insomnia has no settings of a collection: they are in a folder with its name');
  const items = hasRoot ? [writer.group('root', 0, root, docsOf(member(collection.root, 'info')), children)] : children;
  const variables = enabledPairs(member(collection.root, 'variable'));
  return writeYaml({
    type: 'collection.insomnia.rest/5.0',
    name: collection.name,
    meta: writer.meta('wrk', 'collection', 0, docsOf(member(collection.root, 'info'))),
    collection: items,
    environments: {
      name: 'Base Environment',
      meta: writer.meta('env', 'base', 0, ''),
      data: Object.fromEntries(variables.map(({ key, value }) => [key, writer.template(value, '')])),
    },
  });
}

/** Dynamic variables that have a tag of Insomnia. */
const TAGS: Readonly<Record<string, string>> = {
  $guid: "{% uuid 'v4' %}",
  $randomUUID: "{% uuid 'v4' %}",
  $timestamp: "{% now 'unix', '' %}",
  $isoTimestamp: "{% now 'iso-8601', '' %}",
};

class InsomniaWriter {
  readonly #seed: string;
  readonly #findings: Findings;

  constructor(seed: string, findings: Findings) {
    this.#seed = seed;
    this.#findings = findings;
  }

  /** The same ids for the same collection, so that a second export is no other file. */
  meta(kind: string, id: string, order: number, description: string): JsonObject {
    const hash = createHash('sha256').update(`${kind} ${id} ${this.#seed}`).digest('hex').slice(0, 32);
    return { id: `${kind}_${hash}`, ...(description === '' ? {} : { description }), sortKey: order };
  }

  template(text: string, place: string): string {
    return text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (all, name: string) => {
      const tag = TAGS[name];
      if (tag !== undefined) return tag;
      if (name.startsWith('$')) {
        this.#findings.warn(place, name, `Insomnia has no counterpart of {{${name}}}, which is kept as text`);
        return all;
      }
      return /^[\w.]+$/.test(name) ? `{{ _.${name} }}` : `{{ _['${name}'] }}`;
    });
  }

  node(node: ExportedNode, order: number): JsonObject {
    if (node.kind === 'folder')
      return this.group(
        node.id,
        order,
        node.form,
        node.docs,
        node.children.map((child, index) => this.node(child, index)),
      );
    const { form, id, docs, encodeUrl } = node;
    const text = (value: string): string => this.template(value, form.name);
    const [base = ''] = form.url.split('?');
    const fragment = /#.*$/s.exec(form.url)?.[0] ?? '';
    const pairs = (rows: readonly { name: string; value: string | null; enabled: boolean }[]): JsonObject[] =>
      rows.map((row) => ({ name: text(row.name), value: text(row.value ?? ''), disabled: !row.enabled }));
    // A parameter without a value is only kept as part of the address.
    const split = form.params.every((row) => row.value !== null);
    const body = this.#body(form.body, form.name);
    return {
      url: text(split ? `${base.replace(/#.*$/s, '')}${fragment}` : form.url),
      name: form.name,
      meta: this.meta('req', id, order, docs),
      method: form.method,
      ...(body === null ? {} : { body }),
      ...(split ? { parameters: pairs(form.params) } : {}),
      pathParameters: form.pathVariables.map((row) => ({ name: row.name, value: text(row.value) })),
      headers: pairs(form.headers),
      ...this.#auth(form.auth, form.name),
      ...scripts(form.before, form.after),
      settings: {
        renderRequestBody: true,
        encodeUrl,
        followRedirects: form.followRedirects ? 'global' : 'off',
        cookies: { send: true, store: true },
        rebuildPath: true,
      },
    };
  }

  group(
    id: string,
    order: number,
    form: {
      name: string;
      auth: AuthForm;
      before: string;
      after: string;
      variables: readonly { name: string; value: string }[];
    },
    docs: string,
    children: readonly JsonObject[],
  ): JsonObject {
    const variables = id === 'root' ? [] : form.variables;
    return {
      name: form.name,
      meta: this.meta('fld', id, order, docs),
      children,
      ...this.#auth(form.auth, form.name),
      ...scripts(form.before, form.after),
      ...(variables.length === 0
        ? {}
        : {
            environment: Object.fromEntries(
              variables.map(({ name, value }) => [name, this.template(value, form.name)]),
            ),
          }),
    };
  }

  #body(body: BodyForm, place: string): JsonObject | null {
    const text = (value: string): string => this.template(value, place);
    switch (body.mode) {
      case 'none':
        return null;
      case 'raw': {
        const types: Readonly<Record<string, string>> = {
          json: 'application/json',
          xml: 'application/xml',
          html: 'text/html',
          javascript: 'application/javascript',
        };
        return { mimeType: types[body.language] ?? 'text/plain', text: text(body.text) };
      }
      case 'urlencoded':
        return {
          mimeType: 'application/x-www-form-urlencoded',
          params: body.rows.map((row) => ({ name: text(row.name), value: text(row.value), disabled: !row.enabled })),
        };
      case 'formdata':
        return {
          mimeType: 'multipart/form-data',
          params: body.rows.map((row) => ({
            name: text(row.name),
            ...(row.file ? { type: 'file', fileName: row.value } : { type: 'text', value: text(row.value) }),
            disabled: !row.enabled,
          })),
        };
      case 'file':
        return { mimeType: 'application/octet-stream', fileName: body.path };
      case 'graphql':
        return {
          mimeType: 'application/graphql',
          text: JSON.stringify({ query: body.query, variables: body.variables }),
        };
      default:
        this.#findings.warn(place, body.mode, `A body that is ${body.what} is not exported`);
        return null;
    }
  }

  #auth({ type, settings }: AuthForm, place: string): JsonObject {
    const get = (key: string): string => this.template(settings[key] ?? '', place);
    const made = (value: JsonObject): JsonObject => ({ authentication: value });
    switch (type) {
      case 'inherit':
        return {};
      case 'noauth':
        return made({ type: 'none' });
      case 'basic':
      case 'digest':
      case 'ntlm':
        return made({ type, username: get('username'), password: get('password') });
      case 'bearer':
        return made({ type, token: get('token') });
      case 'apikey':
        return made({
          type,
          key: get('key'),
          value: get('value'),
          addTo: get('in') === 'query' ? 'queryParams' : 'header',
        });
      case 'awsv4':
        return made({
          type: 'iam',
          accessKeyId: get('accessKey'),
          secretAccessKey: get('secretKey'),
          sessionToken: get('sessionToken'),
          region: get('region'),
          service: get('service'),
        });
      case 'oauth2': {
        const grant = get('grant_type');
        return made({
          type,
          grantType: grant === 'client_credentials' ? grant : 'authorization_code',
          usePkce: grant === 'authorization_code_with_pkce',
          authorizationUrl: get('authorizationUrl'),
          accessTokenUrl: get('url'),
          clientId: get('client_id'),
          clientSecret: get('client_secret'),
          scope: get('scope'),
          credentialsInBody: get('client_authentication') === 'body',
        });
      }
      default:
        this.#findings.warn(place, type, `The authorization '${type}' is not exported`);
        return {};
    }
  }
}

function scripts(before: string, after: string): JsonObject {
  const made = {
    ...(before.trim() === '' ? {} : { preRequest: scriptText(before) }),
    ...(after.trim() === '' ? {} : { afterResponse: scriptText(after) }),
  };
  return Object.keys(made).length === 0 ? {} : { scripts: made };
}

function scriptText(text: string): string {
  return text.startsWith(INSOMNIA_SCRIPT_HEAD)
    ? text.slice(INSOMNIA_SCRIPT_HEAD.length)
    : `${POSTMAN_IN_INSOMNIA}${text}`;
}
