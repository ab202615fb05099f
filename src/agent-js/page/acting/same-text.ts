/** What fields add to a text, or put in the place of another such mark, without changing what it says. */
const MARKS = /^[-/.,:()_'’ $€£¥%]$/u;
const LETTER_OR_DIGIT = /^[\p{L}\p{N}\p{M}]$/u;
/** Marks that a field may leave out. */
const DROPPED = /^[()_'’]$/u;
const NUMBER = /^[+-]?\d[\d,'’]*(?:\.\d+)?$/u;

/**
 * Whether a field that shows one text holds another that was typed: the same letters, digits and signs in their order.
 * Case, white space, and marks that the field adds between them do not count, as in masks of phone numbers and cards.
 */
export function holdsText(typed: string, shown: string): boolean {
  return isSameNumber(typed, shown) || isInOrder([...folded(typed)], [...folded(shown)]);
}

/** The same for an editor of more than one line, where every mark and every indent counts. */
export function holdsLines(typed: string, shown: string): boolean {
  const [wanted, found] = [linesOf(typed), linesOf(shown)];
  return wanted.length === found.length && wanted.every((line, at) => line === found[at]);
}

function isInOrder(typed: readonly string[], shown: readonly string[]): boolean {
  let at = 0;
  for (const [index, sign] of typed.entries()) {
    const [before = '', after = ''] = [typed[index - 1], typed[index + 1]];
    if (shown[at] === sign) {
      at += 1;
      continue;
    }
    if (MARKS.test(sign)) {
      const next = shown[at] ?? '';
      const decimal = /[.,]/.test(sign) && /\d/.test(before) && /\d/.test(after);
      const negative = sign === '-' && before === '' && /\d/.test(after);
      // In its place another one, which stays to be met by what follows.
      const replaced = decimal ? /[.,]/.test(next) : !negative && MARKS.test(next);
      if (!replaced && !DROPPED.test(sign) && after !== '') return false;
      continue;
    }
    while (shown[at] !== sign && MARKS.test(shown[at] ?? '')) at += 1;
    if (shown[at] !== sign) return false;
    at += 1;
  }
  return shown.slice(at).every((sign) => !LETTER_OR_DIGIT.test(sign) && MARKS.test(sign));
}

/** Fields of numbers write them in their own way: `1,234.50` for 1234.5, `$5`. */
function isSameNumber(typed: string, shown: string): boolean {
  const [wanted, found] = [typed, shown].map((text) => folded(text).replace(/[$€£¥%]/gu, ''));
  if (wanted === undefined || found === undefined || !NUMBER.test(wanted) || !NUMBER.test(found)) return false;
  return numberOf(wanted) === numberOf(found);
}

function numberOf(number: string): number {
  return Number(number.replace(/[,'’]/gu, ''));
}

function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/−/gu, '-')
    .replace(/[\s\p{Cf}]+/gu, '');
}

function linesOf(text: string): string[] {
  return text
    .normalize('NFC')
    .replace(/\u00a0/g, ' ')
    .replace(/\p{Cf}/gu, '')
    .split(/\r\n?|\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}
