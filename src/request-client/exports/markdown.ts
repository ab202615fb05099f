import { Marked } from 'marked';

const markdown = new Marked({
  renderer: {
    html: ({ text }) => htmlOfText(text),
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      return isOpenable(href) ? `<a href="${htmlOfText(href)}">${text}</a>` : text;
    },
    // A page that loads pictures would not be complete by itself, and would say that it is read.
    image({ href, text }) {
      const shown = htmlOfText(text || href);
      if (/^data:image\//i.test(href)) return `<img src="${htmlOfText(href)}" alt="${shown}">`;
      return isOpenable(href) ? `<a href="${htmlOfText(href)}">${shown}</a>` : shown;
    },
  },
});

/**
 * HTML of a description. HTML in it is shown as text, and `javascript:` is no link. Bundled with the package that does
 * it.
 */
export function htmlOfMarkdown(text: string): string {
  return markdown.parse(text);
}

/** A text as HTML, also in attributes. */
export function htmlOfText(text: string): string {
  const names: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}

/** Addresses of the web and of mail, and relative ones. */
function isOpenable(href: string): boolean {
  return /^(?:https?:|mailto:|[^:]*$)/i.test(href.trim());
}
