/** Text that is markup already: the only thing that {@link html} does not escape. */
class Markup {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * A template tag for pages. Every value is escaped, save what this tag made itself; arrays are joined, and `null`,
 * `undefined` and `false` are nothing. Values belong into text or into quoted attributes.
 */
export function html(strings, ...values) {
  let text = strings[0];
  for (const [index, value] of values.entries()) {
    text += asMarkup(value) + strings[index + 1];
  }
  return new Markup(text);
}

function asMarkup(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(asMarkup).join('');
  if (value === null || value === undefined || value === false) return '';
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
