import { prettyJson } from '../format.js';

/** What can be written with line breaks and indents. */
export type PrettyLanguage = 'json' | 'xml' | 'html';

/** Larger texts are not formatted: that would take seconds. */
const MAX_MARKUP = 1024 * 1024;

/** The language of a body that can be formatted; null if there is none. */
export function prettyLanguage(contentType: string, text: string): PrettyLanguage | null {
  if (/\bjson\b|\+json/i.test(contentType)) return 'json';
  if (/xhtml/i.test(contentType)) return 'html';
  if (/xml|svg/i.test(contentType)) return 'xml';
  if (/html/i.test(contentType)) return 'html';
  if (/^\s*[{[]/.test(text)) return 'json';
  return /^\s*<\?xml/.test(text) ? 'xml' : null;
}

const INDENTED = { indent_size: 2, wrap_line_length: 0 };
/** Scripts and styles stay as they are. */
const AS_WRITTEN = ['script', 'style'];

/** A text with line breaks and indents; JSON that cannot be parsed is returned unchanged. */
export async function prettyText(language: PrettyLanguage | null, text: string): Promise<string> {
  if (language === 'json') return prettyJson(text);
  if (language === null || text.length > MAX_MARKUP) return text;
  const { default: beautify } = await import('js-beautify/js/lib/beautify-html.js');
  return language === 'html'
    ? beautify.html_beautify(text, { ...INDENTED, content_unformatted: ['pre', 'textarea', ...AS_WRITTEN] })
    : beautify.html_beautify(text, {
        ...INDENTED,
        content_unformatted: AS_WRITTEN,
        // XML has none of the elements that HTML treats in a way of their own.
        void_elements: [],
        inline: [],
        unformatted: [],
        extra_liners: [],
      });
}
