import { readData } from './data-pieces.js';
import { emptyOperation, type Operation } from './operation.js';
import { type CurlOption, hasPassword, reasonLeftOut } from './options.js';
import type { Argument } from './read-arguments.js';
import type { Remark, Stdin } from './shell-command.js';
import { markVariable, toText, variablesInBraces } from './source-text.js';

export interface Collected {
  readonly operations: readonly Operation[];
  /** From `--variable NAME=value`; bytes. */
  readonly variables: ReadonlyMap<string, string>;
}

type OptionArgument = Extract<Argument, { readonly kind: 'option' }>;

/** Turns arguments into operations, one for each `--next`. Options without a counterpart are reported by name. */
export function collectOperations(args: readonly Argument[], stdin: Stdin, remarks: Remark[]): Collected {
  let operation = emptyOperation();
  const operations = [operation];
  const variables = new Map<string, string>();
  for (const arg of args) {
    if (arg.kind === 'url') {
      operation.urls.push({ word: arg.word, unsure: arg.unsure });
      continue;
    }
    const { option, on, value, at } = arg;
    if (option.name === 'next') {
      operation = emptyOperation();
      operations.push(operation);
    } else if (option.role !== 'own') remarks.push(leftOut(arg));
    else if (value !== null) takeValue(operation, option.name, value.text, at, { stdin, remarks, variables });
    else takeSwitch(operation, option, on, at, remarks);
  }
  return { operations, variables };
}

function leftOut({ option, value, at, written }: OptionArgument): Remark {
  const shown =
    value === null ? '' : hasPassword(option.name, value.text) ? ' •••' : ` ${variablesInBraces(value.text)}`;
  const about = written + shown;
  const name = written.startsWith('--') ? about : `${about} (--${option.name})`;
  if (option.role === 'terminal') {
    return { level: 'note', about, message: `${name} was left out: it does not change the request`, at };
  }
  return { level: 'warning', about, message: `${name} was left out: ${reasonLeftOut(option.name)}`, at };
}

interface Context {
  readonly stdin: Stdin;
  readonly remarks: Remark[];
  readonly variables: Map<string, string>;
}

function takeValue(operation: Operation, name: string, written: string, at: number, context: Context): void {
  const { stdin, remarks, variables } = context;
  const text = context.variables.size === 0 ? written : withDeclared(written, variables);
  switch (name) {
    case 'url':
      operation.urls.push({ word: { text, start: at, bare: false }, unsure: false });
      return;
    case 'header':
      if (text.startsWith('@')) remarks.push(fileRemark('--header', text, at));
      else operation.headers.push(...text.split(/\r?\n/).map((line) => ({ text: line, at })));
      return;
    case 'json':
      operation.json = true;
      operation.data.push(readData(name, text, at, stdin));
      return;
    case 'data':
    case 'data-ascii':
    case 'data-binary':
    case 'data-raw':
    case 'data-urlencode':
      operation.data.push(readData(name, text, at, stdin));
      return;
    case 'form':
    case 'form-string':
      operation.forms.push({ text, at, literal: name === 'form-string' });
      return;
    case 'cookie':
      if (text.includes('=')) operation.cookies.push({ text, at });
      else if (text !== '') remarks.push(fileRemark('--cookie', text, at));
      return;
    case 'url-query':
      operation.queries.push({ text, piece: readData(name, text, at, stdin) });
      return;
    case 'request':
      operation.method = { text, at };
      return;
    case 'upload-file':
      operation.upload = { text, at };
      return;
    case 'user':
      operation.user = { text, at };
      return;
    case 'user-agent':
      operation.userAgent = { text, at };
      return;
    case 'referer':
      operation.referer = { text, at };
      return;
    case 'range':
      operation.range = { text, at };
      return;
    case 'oauth2-bearer':
      operation.bearer = { text, at };
      return;
    case 'time-cond':
      operation.timeCondition = { text, at };
      return;
    case 'variable': {
      const [, variable = text, content = ''] = /^%?([^=@]+)(?:=([\s\S]*))?$/.exec(text) ?? [];
      variables.set(toText(variable), content);
      return;
    }
    default: {
      const about = `--${name} ${variablesInBraces(text)}`;
      remarks.push({
        level: 'warning',
        about,
        message: `${about} was left out: the request client has no such setting`,
        at,
      });
    }
  }
}

/** Marks `{{name}}` of a variable that `--variable` declared, so that its braces are not read as a URL pattern. */
function withDeclared(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{([\w-]+)\}\}/g, (all, name: string) => (variables.has(name) ? markVariable(name) : all));
}

function takeSwitch(operation: Operation, option: CurlOption, on: boolean, at: number, remarks: Remark[]): void {
  switch (option.name) {
    case 'head':
      operation.head = on;
      return;
    case 'get':
      operation.get = on;
      return;
    case 'globoff':
      operation.globOff = on;
      return;
    case 'path-as-is':
      operation.pathAsIs = on;
      return;
    case 'location':
      operation.location = on;
      return;
    case 'location-trusted':
      operation.location = on;
      operation.trusted = on;
      return;
    case 'insecure':
      operation.insecure = on;
      return;
    case 'http1.1':
      operation.httpVersion = { version: 'http1', at };
      return;
    case 'http2':
      // As without it, HTTP/2 is used if the server offers it.
      operation.httpVersion = null;
      return;
    case 'http2-prior-knowledge':
      operation.httpVersion = { version: 'http2', at };
      return;
    case 'compressed':
      operation.compressed = on;
      return;
    case 'basic':
    case 'digest':
      operation.authScheme = on ? option.name : 'basic';
      return;
    case 'disable':
      return;
    default: {
      operation.authScheme = on ? 'other' : operation.authScheme;
      const about = `--${option.name}`;
      const message = `${about} was left out: the request client supports Basic, Digest, Bearer and OAuth 2.0, not ${schemeOf(option.name)}`;
      remarks.push({ level: 'warning', about, message, at });
    }
  }
}

function schemeOf(option: string): string {
  return { anyauth: 'whatever the server asks for', negotiate: 'Negotiate' }[option] ?? 'NTLM';
}

function fileRemark(option: string, value: string, at: number): Remark {
  const about = `${option} ${variablesInBraces(value)}`;
  return { level: 'warning', about, message: `${about} was left out: it names a file`, at };
}
