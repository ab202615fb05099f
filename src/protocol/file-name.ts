/** The longest name that common file systems hold (NAME_MAX of Linux), in bytes of UTF-8. */
const MAX_NAME_BYTES = 255;

/** Whether a file of a session may have this name: one path segment, nothing that a file system takes for more. */
export function isFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\]|\p{Cc}/u.test(name)) return false;
  return new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** One path segment in which everything that some system takes for a path, or refuses in a name, is `_`. */
export function safeFileName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  return name.replace(/[\u0000-\u001f\u007f<>:"|?*\\/]/g, '_');
}
