/** Shorter values are looked for as they are: with gaps or in another case they would be found in innocent text. */
const LOOSE_CHARACTERS = 6;
/** Longer values are looked for as they are: a pattern of all their characters would take too long to make and to run. */
const MAX_PATTERN_CHARACTERS = 128;

/** What is not seen, or taken for a gap: spaces, format characters, dashes, dots, underscores. */
const GAP =
  '\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufe0f' +
  '\\-\\u2010-\\u2015\\u2212._\\u00b7\\u2022\\u2027';
/** As it stands in addresses, markup and JSON. */
const WRITTEN_GAP = [
  `[${GAP}]`,
  '\\+',
  '%(?:25){0,2}(?:[02][9adeADE0]|5[fF]|[cC]2%(?:25){0,2}[aA]0)',
  '&(?:amp;){0,2}(?:nbsp|#0{0,4}(?:32|45|46|95|160)|#[xX]0{0,4}(?:20|2[deDE]|5[fF]|[aA]0));',
  '\\\\{1,7}(?:[nrt]|u00(?:[02][9adeADE0]|5[fF]|[aA]0)|x(?:[02][9adeADE0]|5[fF]|[aA]0))',
].join('|');
const IS_GAP = new RegExp(`[${GAP}]`);

const NAMED: { readonly [character: string]: string } = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** All that one value of a secret may look like, in plain data. */
export interface Spellings {
  /** One of these is in the text, or the pattern matches it. */
  readonly literals: readonly string[];
  /** Global. Null where the literals are all. */
  readonly pattern: RegExp | null;
  /** Global; finds the literals, and what of their neighbours tells of the value. */
  readonly literalPattern: RegExp;
}

/**
 * How a value may be written where it comes back: as it is; escaped for addresses, JSON and markup, wholly or in part and
 * up to three times over; in another case, and with gaps between its characters; in base64 at any alignment, in
 * hexadecimal digits, backwards, and as a file's name. Short values are found as they are and escaped.
 */
export function spellingsOf(given: string): Spellings {
  // Half a surrogate pair cannot be encoded, and comes back as this.
  const value = Buffer.from(given).toString();
  const isShort = charactersOf(value).length < LOOSE_CHARACTERS;
  const literals = [value, ...escaped(value), ...(isShort ? [] : encoded(value))];
  const base64 = isShort ? [] : base64Cores(value);
  const texts = [...new Set(literals)].filter((text) => text !== '').sort((one, other) => other.length - one.length);
  const around = '[\\w+/-]?';
  const parts = [
    ...base64.map(({ core, isCut }) => `${isCut ? around : ''}${escapeRegExp(core)}${around}(?:=|%3D){0,2}`),
    ...texts.map(escapeRegExp),
  ];
  return {
    literals: [...texts, ...base64.map(({ core }) => core)],
    pattern: patternOf(value, isShort),
    literalPattern: new RegExp(parts.join('|'), 'g'),
  };
}

function charactersOf(value: string): readonly string[] {
  return [...value.normalize('NFC')].filter((character) => !IS_GAP.test(character));
}

/** Each gap has one quantifier, and gaps share no character with what they part: the pattern runs in linear time. */
function patternOf(value: string, isShort: boolean): RegExp | null {
  const characters = [...value.normalize('NFC').trim()];
  if (characters.length > MAX_PATTERN_CHARACTERS) return null;
  const parts: string[] = [];
  let gap = 0;
  for (const character of characters) {
    if (IS_GAP.test(character) && !isShort) {
      gap += 1;
      continue;
    }
    if (parts.length > 0 && !isShort) parts.push(gap > 0 ? `(?:${WRITTEN_GAP}){1,${4 * gap + 3}}` : `[${GAP}]{0,3}`);
    parts.push(oneOf(character));
    gap = 0;
  }
  return parts.length === 0 ? null : new RegExp(parts.join(''), isShort ? 'g' : 'gi');
}

/** A character as it is and as it may be escaped. */
function oneOf(character: string): string {
  const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'));
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16));
  const code = character.codePointAt(0) ?? 0;
  const name = NAMED[character];
  const entity = `#0{0,4}${code}|#[xX]0{0,4}${anyCase(code.toString(16))}${name === undefined ? '' : `|${name}`}`;
  const forms = [
    bytes.map((byte) => `%(?:25){0,2}${anyCase(byte)}`).join(''),
    `&(?:amp;){0,2}(?:${entity});`,
    units.map((unit) => `\\\\{1,7}u${anyCase(unit.padStart(4, '0'))}`).join(''),
    ...(code < 256 ? [`\\\\{1,7}x${anyCase(code.toString(16).padStart(2, '0'))}`] : []),
    ...('"\'/\\'.includes(character) ? [`\\\\{1,7}${escapeRegExp(character)}`] : []),
    ...(character === ' ' ? ['\\+', '&nbsp;', '\\s'] : []),
    ...new Set([character, character.normalize('NFD')].map(escapeRegExp)),
  ];
  return `(?:${forms.join('|')})`;
}

/** Hexadecimal digits of either case. */
function anyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escaped(value: string): readonly string[] {
  const component = encodeURIComponent(value);
  return [
    JSON.stringify(value).slice(1, -1),
    component,
    new URLSearchParams({ v: value }).toString().slice(2),
    value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    value.replace(/\s+/g, ' ').trim(),
    // An address escapes some more once it has been one.
    new URL(`http://a/?${component}`).search.slice(1),
  ];
}

function encoded(value: string): readonly string[] {
  const hex = Buffer.from(value).toString('hex');
  // Browsers replace what the file systems of some machine refuse.
  const fileName = value.replace(/["*/:<>?\\|~]/g, '_');
  return [hex, hex.toUpperCase(), [...value].reverse().join(''), fileName];
}

/** The characters that the value alone decides, with nothing, one or two bytes before it. */
function base64Cores(value: string): readonly { readonly core: string; readonly isCut: boolean }[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    const core = text.slice(first, Math.floor(((before + bytes.length) * 8) / 6));
    const forms = new Set([core, core.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(core)]);
    return [...forms].map((form) => ({ core: form, isCut: before > 0 }));
  });
  return cores;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
