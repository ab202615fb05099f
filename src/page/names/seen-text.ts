import { foldSpace } from '../locator.js';
import { childNodesOf, isElement } from '../tree/flat-tree.js';
import { isParked } from '../tree/parked.js';
import { isField, roleOf } from './roles.js';

/** Text beyond this is not read: what one chooses is short. */
const MAX_PIECES = 1_000;
const UNREAD = new Set(['script', 'style', 'template', 'noscript']);
/** What is for screen readers alone is at most of this size, in CSS pixels. */
const DOT = 1;
/** An indent so far out takes a text out of its box, in CSS pixels. */
const FAR_INDENT = -500;

/** A part of what is drawn in an element. */
interface Piece {
  /** As it is written, and as it is drawn, in capitals for instance. */
  readonly written: string;
  readonly drawn: string;
  readonly kind: 'text' | 'unspoken' | 'picture';
}

/** A text as a person reads it: white space folded, no characters of no width, letters composed in one way. */
export function asSeen(text: string): string {
  return foldSpace(text.replace(/\p{Cf}/gu, '').normalize('NFC'));
}

/**
 * What a person may read in an element: without words that are there for screen readers alone and what stands in fields, with
 * or without what is not read out and the names of pictures, as it is written or as its style draws it. The first is the
 * plainest; none is empty.
 */
export function seenTexts(element: Element): readonly string[] {
  const pieces = piecesOf(element);
  const spoken = pieces.filter(({ kind }) => kind === 'text');
  const drawn = pieces.filter(({ kind }) => kind !== 'picture');
  const pictured = pieces.filter(({ kind }) => kind !== 'unspoken');
  const texts = [spoken, drawn, pictured].flatMap((some) => [
    asSeen(some.map((piece) => piece.written).join('')),
    asSeen(some.map((piece) => piece.drawn).join('')),
  ]);
  const found = [...new Set(texts.filter((text) => text !== ''))];
  const generated = found.length > 0 ? '' : asSeen(generatedText(element));
  return generated === '' ? found : [generated];
}

/** The plainest of what a person may read in an element; empty where it shows no text. */
export function seenText(element: Element): string {
  return seenTexts(element)[0] ?? '';
}

/** The text that is drawn in an element and read out, pictures by their names: what it may call something else. */
export function spokenText(element: Element): string {
  const pieces = piecesOf(element).filter(({ kind }) => kind !== 'unspoken');
  return asSeen(pieces.map(({ written }) => written).join(''));
}

function piecesOf(element: Element): readonly Piece[] {
  const pieces: Piece[] = [];
  const isOutside = isParked(element);
  const read = (holder: Element, style: CSSStyleDeclaration, isSilent: boolean): void => {
    for (const node of childNodesOf(holder)) {
      if (pieces.length > MAX_PIECES) return;
      if (node.nodeType === 3) addText(node.nodeValue ?? '', style, isSilent);
      else if (isElement(node)) readPart(node, isSilent);
    }
  };
  const addText = (text: string, style: CSSStyleDeclaration, isSilent: boolean): void => {
    const { visibility, fontSize, textIndent, overflowX } = style;
    const isDrawnOut = Number.parseFloat(textIndent) < FAR_INDENT && overflowX !== 'visible';
    if (visibility !== 'visible' || fontSize === '0px' || isDrawnOut) return;
    pieces.push({ written: text, drawn: transformed(text, style), kind: isSilent ? 'unspoken' : 'text' });
  };
  const readPart = (part: Element, isAround: boolean): void => {
    if (part.localName === 'br') add(' ', 'text');
    if (part.localName === 'br' || UNREAD.has(part.localName) || isField(part)) return;
    const style = getComputedStyle(part);
    if (style.display === 'none' || isUndrawn(part, style, isOutside)) return;
    const isSilent = isAround || part.getAttribute('aria-hidden') === 'true';
    const picture = pictureName(part);
    const isApart = style.display !== 'inline' && style.display !== 'contents';
    if (isApart) add(' ', 'text');
    if (picture !== null) add(isSilent ? '' : picture, 'picture');
    else read(part, style, isSilent);
    if (isApart) add(' ', 'text');
  };
  const add = (text: string, kind: Piece['kind']): void => {
    pieces.push({ written: text, drawn: text, kind });
  };
  read(element, getComputedStyle(element), false);
  return pieces;
}

/** Null for what is no picture. */
function pictureName(element: Element): string | null {
  if (element.localName === 'svg') return element.querySelector(':scope > title')?.textContent ?? '';
  const isPicture = element.localName === 'img' || roleOf(element) === 'img';
  if (!isPicture) return null;
  return element.getAttribute('aria-label') ?? element.getAttribute('alt') ?? '';
}

/** Whether nothing of a part of an element is drawn, though it has a box. */
function isUndrawn(part: Element, style: CSSStyleDeclaration, isOutside: boolean): boolean {
  const { display, opacity, position, clip, clipPath, overflowX, overflowY } = style;
  if (display === 'contents') return false;
  if (opacity === '0') return true;
  const isPlaced = position === 'absolute' || position === 'fixed';
  if (isPlaced && /^rect\((0px|1px),? \1,? \1,? \1\)/.test(clip)) return true;
  if (/^inset\((?:50|100)%/.test(clipPath)) return true;
  if (isPlaced && !isOutside && isParked(part)) return true;
  if (display === 'inline' || (overflowX === 'visible' && overflowY === 'visible')) return false;
  const { width, height } = part.getBoundingClientRect();
  return width <= DOT || height <= DOT;
}

function transformed(text: string, { textTransform }: CSSStyleDeclaration): string {
  switch (textTransform) {
    case 'uppercase':
      return text.toUpperCase();
    case 'lowercase':
      return text.toLowerCase();
    case 'capitalize':
      return text.replace(/(?<![\p{L}\p{N}'’])\p{L}/gu, (letter) => letter.toUpperCase());
    default:
      return text;
  }
}

/** What styles write before and after the content of an element that has no text. */
function generatedText(element: Element): string {
  return ['::before', '::after']
    .map((part) => /^"(.*)"$/s.exec(getComputedStyle(element, part).content)?.[1] ?? '')
    .join(' ');
}
