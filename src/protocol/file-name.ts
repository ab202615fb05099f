/** The longest file name of common file systems (NAME_MAX of Linux), in bytes of UTF-8. */
const MAX_NAME_BYTES = 255;

/** Whether a session's file may have this name: one path segment, without characters that are special in paths. */
export function isFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\]|\p{Cc}/u.test(name)) return false;
  return bytesOf(name) <= MAX_NAME_BYTES;
}

/**
 * The name for a file that another one may not have: the wanted one, cut to what file systems take, before its extension and
 * between two characters as people see them. `suffix` stands before the extension.
 */
export function fittingFileName(wanted: string, suffix = ''): string {
  const [, start = '', end = ''] = /^(.*?)(\.[^.]{1,30})?$/s.exec(wanted) ?? [];
  const [stem, extension] = start === '' ? [wanted, ''] : [start, end];
  const room = MAX_NAME_BYTES - bytesOf(suffix) - bytesOf(extension);
  if (bytesOf(stem) <= room) return `${stem}${suffix}${extension}`;
  let kept = '';
  let bytes = 0;
  for (const { segment } of new Intl.Segmenter().segment(stem.slice(0, MAX_NAME_BYTES))) {
    bytes += bytesOf(segment);
    if (bytes > room) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${suffix}${extension}`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A path segment in which all characters that any system treats as special or rejects are replaced by `_`. */
export function safeFileName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  return name.replace(/[\u0000-\u001f\u007f<>:"|?*\\/]/g, '_');
}
