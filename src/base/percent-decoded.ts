/** A text without its percent-encoding; as it is if that is not valid, such as a password that contains a `%`. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
