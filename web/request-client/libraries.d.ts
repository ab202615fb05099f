declare module 'js-beautify/js/lib/beautify-html.js' {
  interface HtmlOptions {
    readonly indent_size: number;
    readonly wrap_line_length: number;
    readonly content_unformatted: readonly string[];
    readonly void_elements?: readonly string[];
    readonly inline?: readonly string[];
    readonly unformatted?: readonly string[];
    readonly extra_liners?: readonly string[];
  }
  const beautify: { html_beautify(text: string, options: HtmlOptions): string };
  export default beautify;
}
