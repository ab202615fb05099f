import { authName } from '../../protocol/requests/auth-names.js';
import type { BodyForm, PairRow } from '../../protocol/requests/request-window.js';
import type { Collection } from '../collection/collection.js';
import { readDescription } from '../collection/description.js';
import { listOf, member, textOf } from '../collection/json-access.js';
import { isCredentialHeader, isSecretVariable } from '../collection/secret-names.js';
import { exampleView } from '../window/forms/examples.js';
import { readGroupForm } from '../window/forms/group-form.js';
import { maskRequest, maskText } from '../window/mask-request.js';
import { type ExportedNode, exportedTree } from './exported-tree.js';
import { htmlOfMarkdown, htmlOfText } from './markdown.js';
import { PAGE_STYLE } from './page-style.js';

/** Characters of a body that a page shows. */
const MAX_BODY = 100_000;
const MASK = '********';

/**
 * The documentation of a collection as one HTML page that loads nothing: descriptions, requests, and examples. What looks
 * secret is masked, and values of authorization are not in it.
 */
export function collectionPage(collection: Collection): string {
  const root = readGroupForm(collection, [], () => '');
  const nodes = exportedTree(collection);
  const name = htmlOfText(collection.name || 'Collection');
  const variables = root.variables.map((row) =>
    isSecretVariable(row.name) ? { ...row, value: hidden(row.value) } : row,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${name}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<nav aria-label="Requests">${contents(nodes)}</nav>
<main>
<h1>${name}</h1>
${described(root.description)}
${authorization(root.auth.type)}
${table('Variables', variables, notes(member(collection.root, 'variable')))}
${nodes.map((node) => section(collection, node, 2)).join('\n')}
</main>
</body>
</html>
`;
}

function contents(nodes: readonly ExportedNode[]): string {
  if (nodes.length === 0) return '';
  const lines = nodes.map((node) => {
    const inner = node.kind === 'folder' ? contents(node.children) : '';
    const method = node.kind === 'request' ? `${methodOf(node.form.method)} ` : '';
    return `<li><a href="#i${node.id}">${method}${htmlOfText(node.form.name)}</a>${inner}</li>`;
  });
  return `<ul>${lines.join('')}</ul>`;
}

function section(collection: Collection, node: ExportedNode, level: number): string {
  const heading = `h${Math.min(level, 6)}`;
  const title = `<${heading} id="i${node.id}">`;
  if (node.kind === 'folder') {
    const { form, docs, children } = node;
    const inner = children.map((child) => section(collection, child, level + 1)).join('\n');
    const about = [described(docs), authorization(form.auth.type), table('Variables', form.variables.map(masked))];
    return `<section>${title}${htmlOfText(form.name)}</${heading}>${about.join('')}${inner}</section>`;
  }
  const { form, docs, item } = node;
  const request = member(item, 'request');
  const url = member(request, 'url');
  const params = form.params.map((row) => ({ ...row, value: row.value ?? '' }));
  return `<section class="request">${title}${methodOf(form.method)} ${htmlOfText(form.name)}</${heading}>
<pre class="url">${htmlOfText(maskText(form.url, (text) => text))}</pre>
${described(docs)}
${authorization(form.auth.type)}
${table('Parameters', params.map(masked), notes(member(url, 'query')))}
${table('Path variables', form.pathVariables.map(masked), notes(member(url, 'variable')))}
${table('Headers', form.headers.map(masked), notes(member(request, 'header')))}
${body(form.body, member(request, 'body'))}
${listOf(member(item, 'response')).map(example).join('\n')}
</section>`;
}

function body(form: BodyForm, stored: unknown): string {
  switch (form.mode) {
    case 'none':
      return '';
    case 'raw':
      return form.text === '' ? '' : `<p class="label">Body</p>${code(form.text)}`;
    case 'graphql':
      return `<p class="label">GraphQL</p>${code(form.query)}${form.variables.trim() === '' ? '' : code(form.variables)}`;
    case 'urlencoded':
      return table('Body, a URL-encoded form', form.rows.map(masked), notes(member(stored, 'urlencoded')));
    case 'formdata': {
      const rows = form.rows.map((row) => (row.file ? { ...row, value: `file ${fileName(row.value)}` } : masked(row)));
      return table('Body, a multipart form', rows, notes(member(stored, 'formdata')));
    }
    case 'file':
      return `<p class="label">Body</p><p>The file ${htmlOfText(fileName(form.path))}</p>`;
    case 'bytes':
      return '<p class="label">Body</p><p>Binary data</p>';
    default:
      return `<p class="label">Body</p><p>${htmlOfText(form.what)}</p>`;
  }
}

function example(value: unknown): string {
  const { name, code: status, status: reason, headers, body: text } = exampleView(value);
  const line = [status ?? '', reason].filter((part) => part !== '').join(' ');
  const rows = headers.map((header) => masked({ ...header, enabled: true }));
  return `<details><summary>Example: ${htmlOfText(name)} <span class="status">${htmlOfText(line)}</span></summary>
${table('Response headers', rows)}${text === '' ? '' : code(text)}</details>`;
}

function table(title: string, rows: readonly PairRow[], about: ReadonlyMap<string, string> = new Map()): string {
  if (rows.length === 0) return '';
  const withNotes = rows.some(({ name }) => (about.get(name) ?? '') !== '');
  const lines = rows.map(({ name, value, enabled }) => {
    const note = withNotes ? `<td>${htmlOfMarkdown(about.get(name) ?? '')}</td>` : '';
    const off = enabled ? '' : ' <small>(off)</small>';
    return `<tr><th scope="row">${htmlOfText(name)}${off}</th><td><code>${htmlOfText(value)}</code></td>${note}</tr>`;
  });
  return `<table><caption>${title}</caption><tbody>${lines.join('')}</tbody></table>`;
}

/** Descriptions of the entries of a stored list, by name. */
function notes(list: unknown): ReadonlyMap<string, string> {
  return new Map(
    listOf(list).map((entry) => [textOf(member(entry, 'key')) ?? '', readDescription(member(entry, 'description'))]),
  );
}

function masked(row: PairRow): PairRow {
  if (isCredentialHeader(row.name)) return { ...row, value: hidden(row.value) };
  const made = maskRequest({ key: row.name, value: row.value }, (text) => text);
  return { ...row, value: textOf(member(made, 'value')) ?? row.value };
}

/** A value that only consists of variables says nothing. */
function hidden(value: string): string {
  return value === '' || /^(?:\s|\{\{[^{}]*\}\}|Bearer|Basic|Token)*$/i.test(value) ? value : MASK;
}

function code(text: string): string {
  const shown = maskText(text, (own) => own);
  const more = shown.length > MAX_BODY ? `<p>The first ${MAX_BODY} characters</p>` : '';
  return `<pre>${htmlOfText(shown.slice(0, MAX_BODY))}</pre>${more}`;
}

function described(text: string): string {
  return text.trim() === '' ? '' : `<div class="about">${htmlOfMarkdown(text)}</div>`;
}

function authorization(type: string): string {
  if (type === 'inherit') return '';
  return `<p class="auth">Authorization: ${htmlOfText(type === 'noauth' ? 'none' : authName(type))}</p>`;
}

function methodOf(method: string): string {
  const known = /^(?:GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)$/.test(method) ? ` ${method}` : '';
  return `<span class="method${known}">${htmlOfText(method)}</span>`;
}

/** A path without its folders, which are of one person's machine. */
function fileName(path: string): string {
  return path.replace(/^.*[/\\](?=[^/\\])/, '');
}
