/**
 * Joins a surrogate pair of `\uHHHH` escapes into one `\UHHHHHHHH`. Bash writes the halves of a pair as two broken
 * characters; the import makes the one that the browser meant, so both are compared with the pair joined.
 */
export function onePoint(text: string): string {
  return text.replace(/\\u(d[89ab]..)\\u(d[c-f]..)/gi, (_all, high: string, low: string) => {
    const point = String.fromCharCode(parseInt(high, 16), parseInt(low, 16)).codePointAt(0) ?? 0;
    return `\\U${point.toString(16).padStart(8, '0')}`;
  });
}
