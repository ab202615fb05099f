import { childNodesOf, isElement, mayBeFrame } from './tree/flat-tree.js';

/** Longer texts are cut. */
const MAX_TEXT = 1_000_000;
/** What is nested deeper is read as plain text: a page may nest deeper than a stack reaches. */
const MAX_DEPTH = 300;
const UNREAD = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'head',
  'select',
  'textarea',
  'svg',
  'canvas',
  'video',
]);
const STRONG = new Set(['b', 'strong']);
const EMPHASIS = new Set(['i', 'em']);

/** What an element says, as Markdown: headings, lists, tables, links, quotes and code; only what is drawn. */
export function markdownOf(element: Element): string {
  return blocks([element], 0).join('\n\n').slice(0, MAX_TEXT);
}

/** The blocks of some nodes that follow each other; text and inline elements between two blocks are one paragraph. */
function blocks(nodes: readonly Node[], depth: number): string[] {
  const found: string[] = [];
  let line = '';
  const end = (): void => {
    const text = tidy(line);
    if (text !== '') found.push(text);
    line = '';
  };
  for (const node of nodes) {
    if (!isElement(node)) {
      line += inlineText(node);
    } else if (isDrawn(node)) {
      if (isInline(node)) line += inline(node, depth);
      else {
        end();
        found.push(...block(node, depth + 1));
      }
    }
  }
  end();
  return found;
}

function block(element: Element, depth: number): string[] {
  if (depth > MAX_DEPTH) return [escaped(element.textContent ?? '')].filter((text) => text !== '');
  const { localName } = element;
  const level = headingLevel(element);
  if (level !== null) {
    const text = oneLine(element, depth);
    return text === '' ? [] : [`${'#'.repeat(level)} ${text}`];
  }
  switch (localName) {
    case 'hr':
      return ['---'];
    case 'pre': {
      const text = (element.textContent ?? '').replace(/\n$/, '');
      const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
      return text.trim() === '' ? [] : [`${fence}\n${text}\n${fence}`];
    }
    case 'blockquote': {
      const inner = blocks(childNodesOf(element), depth).join('\n\n');
      return inner === '' ? [] : [inner.replace(/(^|\n)(?=[^\n])/g, '$1> ').replace(/(^|\n)(?=\n|$)/g, '$1>')];
    }
    case 'ul':
    case 'ol':
    case 'menu':
      return list(element, depth);
    case 'table':
      return table(element, depth);
    default:
      return blocks(childNodesOf(element), depth);
  }
}

function list(element: Element, depth: number): string[] {
  const isNumbered = element.localName === 'ol';
  let number = isNumbered ? (element as HTMLOListElement).start : 0;
  const items: string[] = [];
  for (const child of childNodesOf(element)) {
    if (!isElement(child) || !isDrawn(child)) continue;
    const inner = child.localName === 'li' ? blocks(childNodesOf(child), depth + 1) : block(child, depth + 1);
    const sign = isNumbered ? `${number}. ` : '- ';
    number += 1;
    // A nested list follows its item's text without an empty line.
    const text = inner.join('\n\n').replace(/\n\n(?=(- |\d+\. ))/g, '\n');
    if (text !== '') items.push(sign + text.replace(/\n(?=[^\n])/g, `\n${' '.repeat(sign.length)}`));
  }
  return items.length === 0 ? [] : [items.join('\n')];
}

/** Rows of cells; a table that only arranges others, or one column, is read as blocks. */
function table(element: Element, depth: number): string[] {
  const rows = [...(element as HTMLTableElement).rows].filter(isDrawn);
  const columns = Math.max(0, ...rows.map(({ cells }) => cells.length));
  if (columns < 2 || element.querySelector('table, ul, ol, h1, h2, h3, p + p') !== null) {
    return rows.flatMap(({ cells }) => [...cells].filter(isDrawn).flatMap((cell) => blocks(childNodesOf(cell), depth)));
  }
  const lines = rows.map(({ cells }) => {
    const texts = [...cells].map((cell) => (isDrawn(cell) ? oneLine(cell, depth).replaceAll('|', '\\|') : ''));
    return `| ${[...texts, ...Array.from({ length: columns - texts.length }, () => '')].join(' | ')} |`;
  });
  const [head = '', ...body] = lines;
  const caption = element.querySelector('caption');
  const title = caption === null || !isDrawn(caption) ? [] : [oneLine(caption, depth)];
  return [...title, [head, `|${' --- |'.repeat(columns)}`, ...body].join('\n')];
}

function inline(element: Element, depth: number): string {
  if (depth > MAX_DEPTH) return escaped(element.textContent ?? '');
  const { localName } = element;
  if (localName === 'br') return '\n';
  if (localName === 'img') {
    const alt = escaped(element.getAttribute('alt') ?? '');
    return alt === '' ? '' : `![${alt}]`;
  }
  if (localName === 'code') return code(element.textContent ?? '');
  const inner = childNodesOf(element)
    .map((child) => {
      if (!isElement(child)) return inlineText(child);
      if (!isDrawn(child)) return '';
      return isInline(child) ? inline(child, depth + 1) : ` ${oneLine(child, depth + 1)} `;
    })
    .join('');
  const text = inner.trim();
  if (text === '') return inner === '' ? '' : ' ';
  const [before, after] = [/^\s/.test(inner) ? ' ' : '', /\s$/.test(inner) ? ' ' : ''];
  return `${before}${decorated(element, text)}${after}`;
}

function decorated(element: Element, text: string): string {
  const { localName } = element;
  if (STRONG.has(localName)) return `**${text}**`;
  if (EMPHASIS.has(localName)) return `*${text}*`;
  if (localName === 'a') {
    const { href } = element as HTMLAnchorElement;
    // An address that runs a script leads nowhere.
    return /^(https?|mailto|tel):/.test(href) ? `[${text}](${href.replace(/[()\s]/g, encodeURIComponent)})` : text;
  }
  return text;
}

function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line === '' ? '' : line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

function oneLine(element: Element, depth: number): string {
  return blocks(childNodesOf(element), depth)
    .join(' ')
    .replace(/\s*\n\s*/g, ' ');
}

function headingLevel(element: Element): number | null {
  const [, digit] = /^h([1-6])$/.exec(element.localName) ?? [];
  if (digit !== undefined) return Number(digit);
  if (element.getAttribute('role') !== 'heading') return null;
  const level = Number(element.getAttribute('aria-level') ?? 2);
  return level >= 1 && level <= 6 ? Math.floor(level) : 2;
}

function inlineText(node: Node): string {
  if (node.nodeType !== 3) return '';
  const { parentElement } = node;
  if (parentElement !== null && getComputedStyle(parentElement).visibility !== 'visible') return '';
  return escaped((node.nodeValue ?? '').replace(/\s+/g, ' '));
}

/** What Markdown would read as its own signs. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<]/g, '\\$&');
}

function tidy(line: string): string {
  const text = line
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
  // A paragraph that begins like a heading, a list or a quote is none.
  return text.replace(/^(#{1,6} |[-+>] |\d+\. )/, '\\$1');
}

function isDrawn(element: Element): boolean {
  return !UNREAD.has(element.localName) && getComputedStyle(element).display !== 'none';
}

function isInline(element: Element): boolean {
  if (mayBeFrame(element)) return false;
  const { display } = getComputedStyle(element);
  return display.startsWith('inline') ? element.localName !== 'table' : display === 'contents' && isPhrase(element);
}

function isPhrase(element: Element): boolean {
  return childNodesOf(element).every((child) => !isElement(child) || isInline(child));
}
