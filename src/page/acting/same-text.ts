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

/**
 * Whether a field has added words around a text that was typed, and no more: a unit, a prefix. They are words of their own, have
 * no digit, and are nothing that the field held before in place of the text.
 */
export function holdsWithin(typed: string, shown: string, before: string): boolean {
  const [wanted, found] = [spaced(typed), spaced(shown)];
  const isNumber = NUMBER.test(wanted.replaceAll(' ', ''));
  const around = isNumber ? aroundNumber(wanted, found) : aroundText(wanted, found);
  if (around === null) return false;
  const held = spaced(before);
  return around.every((added) => {
    const words = added.trim();
    if (words === '') return true;
    if (/\p{N}/u.test(words)) return false;
    // A unit stood beside the number before, too; of a text, what is left of another one is no addition.
    return isNumber ? words !== held : !held.includes(words);
  });
}

function aroundNumber(wanted: string, found: string): readonly string[] | null {
  const core = /[+-]?\p{N}(?:.*\p{N})?/su.exec(found);
  if (core === null || !holdsText(wanted, core[0])) return null;
  return [found.slice(0, core.index), found.slice(core.index + core[0].length)];
}

function aroundText(wanted: string, found: string): readonly string[] | null {
  const at = wanted === '' ? -1 : found.indexOf(wanted);
  if (at < 0) return null;
  const [before, after] = [found.slice(0, at), found.slice(at + wanted.length)];
  // The end of a word is no word: `Ann` is not in `Annabel`.
  const isCut = (left: string, right: string): boolean => /[\p{L}\p{N}]$/u.test(left) && /^[\p{L}\p{N}]/u.test(right);
  return isCut(before, wanted) || isCut(wanted, after) ? null : [before, after];
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

function spaced(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/−/gu, '-')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
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
