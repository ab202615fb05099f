import { assertNever } from '#troupe/base/assert-never.js';
import type { BodyForm } from '../../protocol/request-window.js';
import { asObject, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { isEnabled, readRows, writeRows } from './rows.js';

/** The body of a stored request for its tab. */
export function readBodyForm(body: unknown): BodyForm {
  const mode = textOf(member(body, 'mode'));
  switch (mode) {
    case undefined:
      return { mode: 'none' };
    case 'raw': {
      if (member(body, 'base64') !== undefined) return { mode: 'other', what: 'binary data' };
      const language = textOf(member(member(member(body, 'options'), 'raw'), 'language')) ?? 'text';
      return { mode, text: textOf(member(body, 'raw')) ?? '', language };
    }
    case 'urlencoded': {
      const value = member(body, mode);
      if (typeof value === 'string') return { mode: 'other', what: 'a form as one text' };
      return { mode, rows: readRows(value) };
    }
    case 'formdata': {
      const entries = listOf(member(body, mode));
      if (entries.some((entry) => Array.isArray(member(entry, 'src')))) {
        return { mode: 'other', what: 'a form with several files in one part' };
      }
      const rows = entries.map((entry) => {
        const file = member(entry, 'type') === 'file';
        const value = textOf(member(entry, file ? 'src' : 'value')) ?? '';
        return { name: textOf(member(entry, 'key')) ?? '', value, file, enabled: isEnabled(entry) };
      });
      return { mode, rows };
    }
    case 'file':
      return { mode, path: textOf(member(member(body, mode), 'src')) ?? '' };
    case 'graphql': {
      const graphql = member(body, mode);
      const variables = textOf(member(graphql, 'variables')) ?? '';
      return { mode, query: textOf(member(graphql, 'query')) ?? '', variables };
    }
    default:
      return { mode: 'other', what: mode };
  }
}

/** The stored form of a body. The data of other modes is kept, as in Postman. */
export function writeBody(old: unknown, form: BodyForm): JsonObject | undefined {
  const base = asObject(old) ?? {};
  switch (form.mode) {
    case 'none':
      return undefined;
    case 'other':
      return asObject(old);
    case 'raw': {
      const { base64: _, ...rest } = base;
      const options = asObject(base.options) ?? {};
      const language =
        form.language === 'text' && base.options === undefined
          ? {}
          : { options: { ...options, raw: { ...asObject(options.raw), language: form.language } } };
      return { ...rest, mode: 'raw', raw: form.text, ...language };
    }
    case 'urlencoded':
      return {
        ...base,
        mode: form.mode,
        urlencoded: writeRows(base.urlencoded, form.rows, ({ value }) => ({ value })),
      };
    case 'formdata':
      return {
        ...base,
        mode: form.mode,
        formdata: writeRows(base.formdata, form.rows, ({ value, file }) =>
          file ? { type: 'file', src: value } : { type: 'text', value },
        ),
      };
    case 'file':
      return { ...base, mode: form.mode, file: { ...asObject(base.file), src: form.path } };
    case 'graphql':
      return {
        ...base,
        mode: form.mode,
        graphql: { ...asObject(base.graphql), query: form.query, variables: form.variables },
      };
    default:
      return assertNever(form);
  }
}
