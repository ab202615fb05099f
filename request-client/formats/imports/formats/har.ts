import { type JsonObject, listOf, member, textOf } from '../../../engine/collection/json-access.js';
import { type ImportedPair, languageOf, rawBody, requestItem } from '../collection-items.js';
import type { Findings } from '../findings.js';
import { type ImportedContent, NOTHING } from '../imported.js';

/** Headers that belong to one connection, or that the client writes itself. */
const OWN_HEADERS = /^(?::.*|host|content-length|connection|proxy-connection|keep-alive|transfer-encoding)$/is;

/** The requests of an HTTP archive (version 1.2), as browsers and proxies write it. */
export function readHar(value: unknown, findings: Findings): ImportedContent {
  const entries = listOf(member(member(value, 'log'), 'entries'));
  const items = entries.flatMap((entry) => {
    const request = member(entry, 'request');
    const url = textOf(member(request, 'url')) ?? '';
    if (url === '') {
      findings.warn('', 'entry', 'An entry has no URL and is left out');
      return [];
    }
    if (!/^(?:https?:|\{\{)/i.test(url)) {
      findings.note('', 'url', `Only http and https can be requested; left out: ${url.slice(0, 40)}`);
      return [];
    }
    return [itemOf(request, url, findings)];
  });
  if (entries.some((entry) => Number(member(member(entry, 'response'), 'status')) > 0))
    findings.note('', 'response', 'Responses, timings, and pages of the archive are not imported');
  return { ...NOTHING, items };
}

function itemOf(request: unknown, url: string, findings: Findings): JsonObject {
  const method = textOf(member(request, 'method')) ?? 'GET';
  const name = `${method} ${nameOf(url)}`;
  const headers = pairsOf(member(request, 'headers')).filter((header) => !OWN_HEADERS.test(header.name));
  const cookies = pairsOf(member(request, 'cookies'));
  const withCookies =
    cookies.length > 0 && !headers.some((header) => /^cookie$/i.test(header.name))
      ? [
          ...headers,
          { name: 'Cookie', value: cookies.map(({ name: own, value }) => `${own}=${value}`).join('; '), enabled: true },
        ]
      : headers;
  const body = bodyOf(member(request, 'postData'), name, findings);
  const form = member(body, 'mode') === 'formdata';
  return requestItem({
    name,
    method,
    url,
    // The boundary is new for each request.
    headers: form ? withCookies.filter((header) => !/^content-type$/i.test(header.name)) : withCookies,
    body,
    description: textOf(member(request, 'comment')),
    behaviour: body !== null && /^(?:GET|HEAD)$/i.test(method) ? { disableBodyPruning: true } : {},
  });
}

function bodyOf(data: unknown, place: string, findings: Findings): JsonObject | null {
  const text = textOf(member(data, 'text')) ?? '';
  const type = textOf(member(data, 'mimeType')) ?? '';
  const params = listOf(member(data, 'params'));
  if (text !== '' && !/^multipart\/form-data/i.test(type)) {
    if (textOf(member(data, 'encoding') ?? member(data, '_encoding')) === 'base64')
      return { mode: 'raw', raw: '', base64: text };
    return rawBody(text, languageOf(type));
  }
  if (params.length === 0) {
    // A form that is there as text only is sent as it is: its boundary is in the header.
    return text === '' ? null : rawBody(text);
  }
  if (!/^multipart\/form-data/i.test(type)) {
    return {
      mode: 'urlencoded',
      urlencoded: pairsOf(params).map(({ name, value }) => ({ key: decoded(name), value: decoded(value ?? '') })),
    };
  }
  const formdata = params.map((param) => {
    const contentType = textOf(member(param, 'contentType'));
    const fileName = textOf(member(param, 'fileName'));
    if (fileName !== undefined)
      findings.warn(place, 'fileName', 'An archive has only the names of files: check the paths in the form');
    return {
      key: textOf(member(param, 'name')) ?? '',
      ...(fileName === undefined
        ? { type: 'text', value: textOf(member(param, 'value')) ?? '' }
        : { type: 'file', src: fileName }),
      ...(contentType === undefined ? {} : { contentType }),
    };
  });
  return { mode: 'formdata', formdata };
}

function pairsOf(list: unknown): ImportedPair[] {
  return listOf(list).flatMap((pair) => {
    const name = textOf(member(pair, 'name'));
    return name === undefined ? [] : [{ name, value: textOf(member(pair, 'value')) ?? '', enabled: true }];
  });
}

/** Browsers write the fields of a form as they were sent. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}
