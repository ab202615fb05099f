import { foldSpace } from '../locator.js';
import { walk } from '../tree/flat-tree.js';

/** Parts of a control that are asked for the word of a picture. */
const MAX_PARTS = 8;
/** A longer word is no name. */
const MAX_WORD = 40;

/** What people call what is drawn: of a class that has one of these words, they are its name. */
const MEANING =
  /^(?:add|archive|arrow|back|bell|bin|bold|bookmark|calendar|camera|cancel|caret|cart|chat|check|chevron|clear|clock|close|closethick|cog|collapse|comment|copy|cross|cut|dash|decrease|decrement|delete|destroy|dismiss|done|dot|down|download|drag|dropdown|duplicate|edit|email|exit|expand|expander|eye|favorite|favourite|filter|first|flag|forward|fullscreen|gear|grip|hamburger|handle|heart|help|hide|home|image|increase|increment|indent|info|italic|key|last|left|like|link|list|lock|logout|mail|map|maximize|menu|minimize|minus|more|move|mute|new|next|open|paste|pause|pen|pencil|phone|pin|play|plus|power|prev|previous|print|question|redo|refresh|reload|remove|reply|reset|resize|restore|retweet|right|save|search|select|send|settings|share|show|sort|spam|star|stop|strikethrough|submit|swap|tag|thumb|thumbs|times|toggle|toggler|trash|trigger|underline|undo|up|upload|user|view|visibility|volume|wrench|xmark|zoom)$/;
/** What says nothing of the thing itself. */
const EMPTY =
  /^(?:btn|button|icon|icons|ico|img|svg|ui|fa|fas|far|fab|fal|bi|pi|mdi|ti|ri|glyphicon|glyphicons|lucide|octicon|feather|anticon|el|ion|material|symbols|outlined|rounded|sharp|solid|regular|fw|lg|sm|md|xs|xl|o|fill|line|use|symbol|sprite|default|primary|secondary|base|root|wrapper|container|inner|outer|content|small|medium|large|mini|type|circle|square|thick|the|a)$/;
/** What a utility class is made of. */
const STYLE =
  /^(?:absolute|active|align|animated?|animation|auto|bg|border|bordered|clearfix|disabled|ellipsis|elevation|fade|fixed|flex|float|focus|focusable|focused|hairline|hidden|hover|hoverable|inline|invisible|justify|margin|muted|notranslate|nowrap|opacity|outline|padding|pointer|pressed|ripple|rounded|shadow|sticky|transition|transparent|truncate|unselectable|visible|visited|waves|wrap)$/;
/** Made by a machine, or a matter of style alone. */
const NO_WORD = /[:[\]/@()!.%]|^(?:css|sc|jss|jsx|svelte|makeStyles|Mui\w*Root)-|^_|\d{3}|^[a-z]{0,2}-?\d/;

/** The word of the picture that is all that a control shows: of its symbol, its file or its class. */
export function iconWords(element: Element): string {
  let found = '';
  let parts = 0;
  walk(element, true, (part) => {
    if (found !== '' || parts++ > MAX_PARTS) return undefined;
    found = wordsOfPart(part, part === element);
    return found === '' ? true : undefined;
  });
  return found;
}

function wordsOfPart(part: Element, whole: boolean): string {
  const drawn = foldSpace(/^"(.*)"$/s.exec(getComputedStyle(part, '::before').content)?.[1] ?? '');
  if (/[A-Za-z]{2}/.test(drawn) || /\p{L}{2}/u.test(drawn)) {
    // A font of icons draws its pictures by their names, or by characters that nobody has words for.
    return drawn.slice(0, MAX_WORD);
  }
  // In a component, what its author lets others style has a name for that.
  if (whole) return meaningIn(part.classList) || meaningIn(part.part);
  switch (part.localName) {
    case 'use':
      return wordOf((part.getAttribute('href') ?? part.getAttribute('xlink:href') ?? '').replace(/^.*#/s, ''));
    case 'img':
      return wordOf(part.getAttribute('data-icon') ?? '') || fileWord(part.getAttribute('src') ?? '');
    default: {
      const named = part.getAttribute('data-icon') ?? part.getAttribute('data-testid');
      const own = part.localName.endsWith('icon') ? (part.getAttribute('name') ?? part.getAttribute('icon')) : null;
      return wordOf(named ?? '') || wordOf(own ?? '') || meaningIn(part.classList) || prefixedIn(part.classList);
    }
  }
}

/** `fa fa-shopping-basket`: the word after the name of a set of icons, whatever it is. */
function prefixedIn(classes: Iterable<string>): string {
  for (const one of classes) {
    const rest = /^(?:fa|bi|pi|mdi|ti|ri|glyphicon|icon|lucide|octicon|anticon|el-icon|ion|feather)-(.+)$/s.exec(
      one,
    )?.[1];
    const word = rest === undefined ? '' : wordOf(rest);
    if (word !== '') return word;
  }
  return '';
}

function meaningIn(classes: Iterable<string>): string {
  for (const one of classes) {
    if (NO_WORD.test(one)) continue;
    const words = wordsIn(one);
    if (words.some((word) => STYLE.test(word))) continue;
    if (words.some((word) => MEANING.test(word))) return words.join(' ').slice(0, MAX_WORD);
  }
  return '';
}

/** The words by which a page's author calls an element in other attributes. */
export function attributeWords(element: Element): string {
  for (const attribute of ['data-testid', 'data-test', 'data-action', 'name', 'id']) {
    const value = element.getAttribute(attribute) ?? '';
    const word = NO_WORD.test(value) ? '' : wordOf(value);
    if (word !== '') return word;
  }
  return '';
}

/** The first class that is a word, and not only how something is drawn: `mantine-focus-auto`, `van-hairline--left`. */
export function nearWords(element: Element): string {
  for (const one of element.classList) {
    if (NO_WORD.test(one)) continue;
    const words = wordsIn(one);
    const word = words.some((part) => STYLE.test(part)) ? '' : words.join(' ');
    if (/^[a-z]{4,}(?: [a-z]{3,})*$/.test(word) && /[aeiou]/.test(word)) return word.slice(0, MAX_WORD);
  }
  return '';
}

/** The last part of an address that is a word. */
export function hrefWord(element: Element): string {
  const href = element.localName === 'a' ? element.getAttribute('href') : null;
  if (href === null || /^(?:javascript|data):/i.test(href)) return '';
  const path = href.replace(/^[a-z]+:\/\/[^/]+/i, '').replace(/[?].*$/s, '');
  const parts = path.split(/[/#]/).filter((part) => /[a-z]{2}/i.test(part) && !/\d{3}/.test(part));
  return (
    parts
      .reverse()
      .map(fileWord)
      .find((word) => word !== '') ?? ''
  );
}

function fileWord(address: string): string {
  if (address.startsWith('data:')) return '';
  const file =
    address
      .replace(/[?#].*$/s, '')
      .split('/')
      .pop() ?? '';
  return NO_WORD.test(file.replace(/\.\w+$/, '')) ? '' : wordOf(file.replace(/(?:\.\w+)+$/, ''));
}

function wordOf(text: string): string {
  const words = wordsIn(text);
  return words.some((word) => /[a-z]{2}|^x$/.test(word)) ? words.join(' ').slice(0, MAX_WORD) : '';
}

/** `btn-closeIcon` is `close`, `picker__clear` and `p-clear` are `clear`: a library's own name says nothing. */
function wordsIn(text: string): string[] {
  return text
    .replace(/^[a-z\d-]+__(?=[a-z])/i, '')
    .replace(/^[a-wyz]-/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !EMPTY.test(word));
}
