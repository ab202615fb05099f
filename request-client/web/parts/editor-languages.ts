import { html } from '@codemirror/lang-html';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { StreamLanguage } from '@codemirror/language';
import type { Extension } from '@codemirror/state';

export type EditorLanguage = 'json' | 'javascript' | 'html' | 'headers' | 'text';

/** `Name: value`; a line that begins with `//` is disabled. */
const headers = StreamLanguage.define<{ inValue: boolean }>({
  startState: () => ({ inValue: false }),
  token(stream, state) {
    if (stream.sol()) {
      state.inValue = false;
      if (stream.match('//')) {
        stream.skipToEnd();
        return 'comment';
      }
    }
    if (!state.inValue && stream.match(/^[^:]+/)) return 'propertyName';
    if (!state.inValue && stream.eat(':')) {
      state.inValue = true;
      return 'punctuation';
    }
    stream.skipToEnd();
    return 'string';
  },
});

export function languageOf(language: EditorLanguage): Extension {
  switch (language) {
    case 'json':
      return json();
    case 'javascript':
      return javascript();
    case 'html':
      return html({ autoCloseTags: false });
    case 'headers':
      return headers;
    default:
      return [];
  }
}

/** The language for a body of this type. */
export function languageFor(contentType: string): EditorLanguage {
  if (/\bjson\b|\+json/i.test(contentType)) return 'json';
  if (/html|xml|svg/i.test(contentType)) return 'html';
  return /javascript|ecmascript/i.test(contentType) ? 'javascript' : 'text';
}
