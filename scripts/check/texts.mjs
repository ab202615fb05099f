import { parse } from 'svelte/compiler';
import ts from 'typescript';

/** The list of all texts that people read, and what writes it. */
export const TEXTS = 'test/texts.txt';
const COMMAND = 'npm run texts';

const SOURCES = /^(src|request-client(?!\/test)|web)\/.*\.(ts|svelte|html)$/;
const DOCUMENTS = /^(README|docs\/[\w-]+|request-client\/README)\.md$/;
/** Of the compiler, the database, and pages' styles: texts that nobody reads. */
const UNREAD = /\.d\.ts$|^src\/(journal\/(postgres|sqlite|queries|migrations)|cluster\/\S*store|report\/\S*style)/;
/** Where texts are read at a terminal, in the dashboard, in reports, and in the summaries of CI systems. */
const WINDOWS =
  /^(src\/(cli|terminal|report|playwright-test)\/|src\/webhooks\/slack|src\/protocol\/(state-text|times|report\/)|web\/|request-client\/(web|commands)\/|README\.md)/;

/** Attributes that are shown or read aloud. */
const SHOWN = /^(title|alt|placeholder|label|what|aria-(label|description|valuetext|roledescription))$/;
/** Calls whose texts are read whatever they look like. */
const SAID = /^(print|printError|\w*Error|say|note|log|misuse|refused?|blocked|malformed|fail)$/;

/** Nouns that must agree with their number. */
const NOUNS =
  'jobs|flows|sessions|requests|faults|errors|warnings|steps|failures|runs|nodes|rows|results|matches|pictures';

/** What is not written, and what is written in its place: of whole kinds, each by what its members have in common. */
const PHRASES = [
  [/\banswers? to (?!common)/, 'matches'],
  [/(?<!\b[Tt]here )\bis no (?!longer\b|more than\b)/, 'is not a, or Unknown'],
  [/; there are \S/, '. Use one of:'],
  [/\bnear it\b|may be meant/, 'Did you mean'],
  [/takes more words/, 'Missing argument'],
  [/\bthe run before\b|\bits run\b/i, 'Previous run; Run'],
  [/\bover time\b/i, 'History'],
  [/\bown picture\b|\bpictures? of (the )?steps?\b|be pictured/i, 'screenshot'],
  [/\bthe same from\b|fill the screen|\bit lasts\b|\bMax\. /i, 'As curl; Full screen; Expires after; Time limit'],
  [/\bon its own\b|browser to control|autonomous session/, 'Run; Session; job'],
  [/\broom for\b/, 'free'],
  [/\b(took|has taken) control\b|\b(gave|gives?|given) (it |control )?back\b/i, 'control taken; release control'],
  [/\bnext one begins\b/, 'retrying'],
  [/\bwhile it waited\b/i, 'Polled for'],
  [/errors of the page|answers at most/i, 'Page errors; Max turns'],
  [/\bfarm\b/i, 'Troupe'],
  [new RegExp(`\\b1 (?:${NOUNS})\\b|(?:^|[:;,(] ?)… (?:${NOUNS})\\b`), 'counted(n, noun)'],
  [/\b(has|have) gone\b|\bof no use\b|\bis no more\b/, 'is gone; no longer works'],
  [/\banew\b|\bgoes? on\b|\bgo on\b(?! to\b)/, 'again; continue'],
  [
    /takes no (press|text|choice)|\bpresses\b|nothing has come of/,
    'receives no clicks; does not accept text; without effect',
  ],
  [/\bfilm(s|ed)?\b/i, 'video, recording'],
  [/\bmend(s|ed|ing)?\b/i, 'repair'],
  [/\b(lay|laid|lays) by\b/, 'requeue'],
  [/\bwheel\b(?!:|\]|\()/, 'control'],
  [/\b(in|has|have) (the|its|your|their|whose) hands\b/, 'control'],
  [/\b(puts?|put) away\b|\blets? in\b/, 'stores; admits'],
  [/\bsession book\b|\bshelf\b|\bwhereabouts\b|\bspoilt\b|\bdoing-of\b|\bleftovers\b|\bholdings\b/, 'the usual word'],
  [/\b(heeds?|enlist(s|ed)?|intake|moments|surroundings|whenGone|boxless|self-drawn)\b/, 'the usual word'],
  [/\blast words\b|\bstands? still\b|driver's word/, 'last output; keeps moving; exit reason'],
];

/** Words of the API and of JSON, for which people read others: docs/concepts.md has the table. */
const API_WORDS = [
  [/\bjobs?\b/i, 'flow (of a run), or run'],
  [/\bbatch(es)?\b/i, 'run'],
  [/\bcompleted\b/i, 'passed'],
  [/\b(healed|mended)\b(?!-)/i, 'repaired'],
  [/\btest cases?\b/i, 'flow'],
];

/** Texts that are right as they are: a pattern of the file, one of the text, and the reason. */
const EXCEPTIONS = [
  { file: /fold-runs\.ts$/, text: /^… rows of …$/, reason: 'there are always several' },
  { file: /^src\/cli\/nodes\.ts$/, text: /^… nodes remove NODE$/, reason: 'the command as it was typed, not a number' },
];

/** The list of all texts that people read is the one in the repository, and none has a phrase or a word that others replace. */
export function texts(repository) {
  if (!repository.has(TEXTS)) return [];
  const listed = textsByFile(repository);
  const stale = repository.read(TEXTS) === writtenTexts(listed) ? [] : [`${TEXTS} is out of date: ${COMMAND}`];
  return [...stale, ...listed.flatMap(([file, all]) => all.flatMap((text) => wordFaults(file, text)))];
}

function wordFaults(file, text) {
  if (EXCEPTIONS.some((one) => one.file.test(file) && one.text.test(text))) return [];
  const refused = [...PHRASES, ...(WINDOWS.test(file) ? API_WORDS : [])];
  return refused.flatMap(([pattern, better]) => {
    const [found] = pattern.exec(text) ?? [];
    return found === undefined ? [] : [`${file} says "${found.trim()}" in "${text}": write ${better}`];
  });
}

/** The list as it is stored: a file, and below it its texts in their order, one a line. */
export function writtenTexts(listed) {
  return listed.map(([file, all]) => [file, ...all.map((text) => `  ${text}`), ''].join('\n')).join('');
}

/**
 * The texts that people read, by file: literals of the sources with words beside each other, texts and labels of pages,
 * headings of documents. What is filled in is `…`. It lists rather too much than too little.
 */
export function textsByFile({ paths, read }) {
  return paths
    .filter((path) => (SOURCES.test(path) && !UNREAD.test(path)) || DOCUMENTS.test(path))
    .toSorted()
    .map((path) => [path, [...new Set(textsOf(path, read(path)))]])
    .filter(([, all]) => all.length > 0);
}

function textsOf(path, source) {
  const found = [];
  const add = (text, isSaid = false) => {
    for (const part of text.split(/\n\s*\n/)) {
      const line = part.replace(/\s+/g, ' ').trim();
      if (isSaid ? /[A-Za-z]{2}/.test(line) : isProse(line)) found.push(line);
    }
  };
  if (path.endsWith('.md')) {
    for (const [, heading] of source.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)) add(heading, true);
  } else if (path.endsWith('.html')) {
    add(source.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/g, '\n\n'), true);
  } else if (path.endsWith('.svelte')) walkComponent(parse(source, { modern: true, filename: path }), add);
  else walkSource(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS), add);
  return found;
}

/** Words beside each other, or a word as labels have it; no query, no style, no policy, no type, no page script. */
function isProse(text) {
  if (/^(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|DROP|PRAGMA|ALTER|select|insert|update|delete|with) \S/.test(text))
    return false;
  if (
    /^[\w-]+ '(self|none|unsafe-inline)'|=>.*[;}]|^\(?(async )?function\b|\w\??: (string|number|[A-Z]\w*\b)/.test(text)
  )
    return false;
  if (text.length > 4_000 || /^([\w-]+(\[[^\]]*\])?, )+[\w-]+(\[[^\]]*\])?$/.test(text)) return false;
  return /^[A-Z][a-z]+…?$/.test(text) || (/[A-Za-z]{2}/.test(text) && /[\w"'`)}…,:;.] ["'`({\w…]/.test(text));
}

function walkSource(source, add) {
  const visit = (node, isSaid) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    const whole = joined(node);
    if (whole !== null) {
      if (!isKey(node)) add(whole, isSaid && /\s/.test(whole));
      ts.forEachChild(node, visitFilled);
      return;
    }
    const called = ts.isCallExpression(node) || ts.isNewExpression(node) ? node.expression : undefined;
    const said = SAID.test(called?.name?.text ?? called?.text ?? '');
    ts.forEachChild(node, (child) => visit(child, said));
  };
  // Of a text, what is filled in.
  const visitFilled = (node) => {
    if (ts.isTemplateSpan(node)) visit(node.expression, false);
    else if (ts.isBinaryExpression(node) || ts.isTemplateExpression(node)) ts.forEachChild(node, visitFilled);
  };
  visit(source, false);
}

/** The text of a literal, or of several with `+` between them; null for anything else. */
function joined(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null;
  const [left, right] = [joined(node.left), joined(node.right)];
  return left === null || right === null ? null : left + right;
}

/** Compared with, or the name of a member or a case. */
function isKey(node) {
  const { parent } = node;
  if (ts.isElementAccessExpression(parent) || ts.isCaseClause(parent)) return true;
  if (ts.isPropertyAssignment(parent)) return parent.name === node;
  return ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText());
}

function walkComponent({ module, instance, fragment }, add) {
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) node.forEach(visit);
    else if (node.type === 'Literal') {
      if (typeof node.value === 'string') add(node.value);
    } else if (node.type === 'TemplateLiteral') {
      add(node.quasis.map(({ value }) => value.cooked).join('…'));
      visit(node.expressions);
    } else if (node.type === 'Attribute') visitAttribute(node);
    else if (node.type === 'Fragment') visitFragment(node);
    else if (node.type !== 'Comment' && node.type !== 'ImportDeclaration') {
      for (const [key, child] of Object.entries(node)) if (!/omments$|^metadata$|^loc$/.test(key)) visit(child);
    }
  };
  const visitAttribute = ({ name, value }) => {
    if (['class', 'style', 'd', 'type', 'generics'].includes(name)) return;
    const parts = Array.isArray(value) ? value : [value];
    if (parts.some((part) => part?.type === 'Text')) {
      add(parts.map((part) => (part.type === 'Text' ? part.data : '…')).join(''), SHOWN.test(name));
    }
    visit(parts.filter((part) => part?.type === 'ExpressionTag'));
  };
  // Text, what is filled in, and words in an element of their own are one sentence.
  const visitFragment = ({ nodes }) => {
    let sentence = '';
    const end = () => {
      add(sentence, true);
      sentence = '';
    };
    for (const node of nodes) {
      if (!isInline(node)) end();
      else sentence += inlineText(node);
    }
    end();
    visit(nodes.flatMap((node) => (!isInline(node) || node.type === 'ExpressionTag' ? node : insideOf(node))));
  };
  visit([module, instance, fragment]);
}

function isInline({ type, name }) {
  return type === 'Text' || type === 'ExpressionTag' || /^(code|a|b|strong|em|kbd|small)$/.test(name ?? '');
}

function inlineText(node) {
  if (node.type === 'Text') return node.data;
  return node.fragment?.nodes.map(inlineText).join('') ?? '…';
}

/** The attributes, and what is filled in, of words in an element of their own. */
function insideOf({ attributes = [], fragment }) {
  return [...attributes, ...(fragment?.nodes ?? []).filter(({ type }) => type !== 'Text')];
}
