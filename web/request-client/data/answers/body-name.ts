const EXTENSIONS: readonly (readonly [RegExp, string])[] = [
  [/\bjson\b|\+json/, 'json'],
  [/\bsvg\b/, 'svg'],
  [/\bhtml\b/, 'html'],
  [/\bxml\b|\+xml/, 'xml'],
  [/\bcsv\b/, 'csv'],
  [/\bcss\b/, 'css'],
  [/javascript|ecmascript/, 'js'],
  [/\bpdf\b/, 'pdf'],
  [/^image\/jpeg/, 'jpg'],
  [/^image\/(?:png|gif|webp|bmp|avif)/, ''],
  [/\bgzip\b/, 'gz'],
  [/\bzip\b/, 'zip'],
  [/\byaml\b/, 'yaml'],
  [/\bmarkdown\b/, 'md'],
  [/^text\//, 'txt'],
];

/** The name of a file for a body, with the extension of its type; `fallback` is the extension without one. */
export function bodyName(name: string, contentType: string, fallback: string): string {
  const own = name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'response';
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const extension = EXTENSIONS.find(([pattern]) => pattern.test(type))?.[1];
  const made = extension === undefined ? fallback : extension === '' ? type.slice('image/'.length) : extension;
  return own.toLowerCase().endsWith(`.${made}`) ? own : `${own}.${made}`;
}
