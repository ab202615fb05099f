import ts from 'typescript';

const CODE = /\.(ts|mjs|cjs|svelte)$/;
const DATA = /\.(json|jsonl|csv|tsv|xml|xsd|ya?ml|txt)$/;
const LOCK = /(^|\/)package-lock\.json$/;
/** `npm run schemas` writes them. */
const GENERATED = /^schemas\//;
/** Smaller data files are settings. */
const LARGE_BYTES = 2_000;
const TOP = '(top)';

/**
 * How much code there is: lines that are not blank, without comments and import statements, by room.
 *
 * @param repository as `openRepository` gives it
 * @param folder only what is below it, by its folders; left out, the whole repository: `src` and `request-client` by their
 *   folders, the others whole
 * @returns `rooms`: of each, `room`, `files`, and `lines`. `sums`: the same for several rooms together. `data`: `file` and
 *   `bytes` of large data files, whose lines are not counted; the largest first.
 */
export function countCode({ paths, read, readBytes }, folder) {
  const wanted = paths
    .filter((path) => folder === undefined || path.startsWith(`${folder}/`))
    .filter((path) => !GENERATED.test(path));
  const rooms = new Map();
  for (const path of wanted.filter((path) => CODE.test(path))) {
    const room = folder === undefined ? roomOf(path) : `${folder}/${firstFolder(path.slice(folder.length + 1))}`;
    const { files, lines } = rooms.get(room) ?? { files: 0, lines: 0 };
    rooms.set(room, { files: files + 1, lines: lines + linesOf(codeOf(path, read(path))) });
  }
  const rows = [...rooms].map(([room, counts]) => ({ room, ...counts })).sort((a, b) => order(a.room, b.room));
  const data = wanted
    .filter((path) => DATA.test(path) && !LOCK.test(path))
    .map((file) => ({ file, bytes: readBytes(file).length }))
    .filter(({ bytes }) => bytes > LARGE_BYTES)
    .sort((a, b) => b.bytes - a.bytes);
  return { rooms: rows, sums: folder === undefined ? sumsOf(rows) : [sumOf('all', rows)], data };
}

/** The text of a file without its comments and its import statements. Its line breaks stay where they are between code. */
function codeOf(path, text) {
  return path.endsWith('.svelte') ? codeOfComponent(text) : codeOfScript(text);
}

function codeOfScript(text) {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  let code = '';
  let end = 0;
  const add = (node) => {
    if (isImport(node) || ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(add);
    const start = node.getStart(source);
    // Between two tokens there are only blanks, comments, and statements that do not count.
    code += (text.slice(end, start).match(/\n/g)?.join('') ?? ' ') + text.slice(start, node.end);
    end = node.end;
  };
  add(source);
  return code;
}

function isImport(node) {
  if (ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node)) return true;
  return ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
}

/** Of a Svelte component: its scripts, its styles, and its markup. */
function codeOfComponent(text) {
  const parts = /<!--.*?-->|(<(script|style)\b(?:"[^"]*"|'[^']*'|[^"'>])*>)(.*?)(<\/\2>)/gs;
  return text.replace(parts, (_, begin, name, content, end) => {
    if (name === undefined) return '';
    return begin + (name === 'script' ? codeOfScript(content) : content.replace(/\/\*.*?\*\//gs, '')) + end;
  });
}

function linesOf(code) {
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

function roomOf(path) {
  const folder = firstFolder(path);
  if (folder !== 'src' && folder !== 'request-client') return folder;
  return `${folder}/${firstFolder(path.slice(folder.length + 1))}`;
}

function firstFolder(path) {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : TOP;
}

/** `src` comes first, then the request client, then the rest; each by name. */
function order(a, b) {
  const group = (room) => ['src/', 'request-client/', ''].findIndex((start) => room.startsWith(start));
  return group(a) - group(b) || (a < b ? -1 : 1);
}

function sumsOf(rows) {
  const below = (folder) => rows.filter(({ room }) => room.startsWith(`${folder}/`));
  const requestClient = below('request-client');
  return [
    sumOf('src', below('src')),
    sumOf(
      'src without request-client',
      below('src').filter(({ room }) => room !== 'src/request-client'),
    ),
    ...(requestClient.length > 0 ? [sumOf('request-client', requestClient)] : []),
    sumOf('all', rows),
  ];
}

function sumOf(room, rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  return { room, files: sum('files'), lines: sum('lines') };
}
