/** The longest file name of common file systems (NAME_MAX of Linux), in bytes of UTF-8. */
const MAX_NAME_BYTES = 255;

/** Whether a session's file may have this name: one path segment, without characters that are special in paths. */
export function isFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\]|\p{Cc}/u.test(name)) return false;
  return new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** A path segment in which all characters that any system treats as special or rejects are replaced by `_`. */
export function safeFileName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  return name.replace(/[\u0000-\u001f\u007f<>:"|?*\\/]/g, '_');
}
