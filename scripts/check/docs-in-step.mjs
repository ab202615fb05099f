import { posix } from 'node:path';

const DOCUMENTS = ['README.md', 'AGENTS.md', 'docs/architecture.md', 'request-client/README.md'];

/** The documents that draw a folder, each with it. */
const DRAWN = { 'docs/architecture.md': 'src/', 'request-client/README.md': 'request-client/' };

/** Where the command line chooses what to do. */
const COMMAND_LINE = 'src/cli/main.ts';

/** Folders that are ours even where one of them is gone: a mention of a file in them must hold. */
const TOP_FOLDERS = [
  '.ci',
  'bench',
  'docs',
  'examples',
  'request-client',
  'scripts',
  'src',
  'test',
  'web',
  'worker-container',
];

/** The README.md of each folder of src/ that has one. */
function roomsOf({ paths }) {
  return paths.filter((path) => /^src\/[^/]+\/README\.md$/.test(path));
}

/** Files, sections, and commands that the documents mention and that are not there, and folders that they forget. */
export function docsInStep(repository) {
  const documents = [...DOCUMENTS, ...roomsOf(repository)];
  const faults = documents.flatMap((document) => {
    if (!repository.has(document)) return [`${document} is missing`];
    const text = repository.read(document);
    return [
      ...missingLinks(repository, document, text),
      ...codeOf(text).flatMap((code) => [
        ...missingPaths(repository, document, code),
        ...missingCommands(repository, code),
      ]),
    ].map((fault) => `${document}: ${fault}`);
  });
  const pages = repository.paths.filter((path) => /^docs\/[^/]+\.md$/.test(path) && !DOCUMENTS.includes(path));
  const pageFaults = pages.flatMap((page) => {
    const text = repository.read(page);
    const commands = codeOf(text).flatMap((code) => missingCommands(repository, code));
    return [...missingLinks(repository, page, text), ...commands].map((fault) => `${page}: ${fault}`);
  });
  return [...new Set([...faults, ...pageFaults, ...forgottenFolders(repository)])];
}

/** The code spans of a text and the lines of its code blocks. */
function codeOf(text) {
  const code = [];
  const prose = text.replace(/^( *)(```+|~~~+)[^\n]*\n([\s\S]*?)^\1\2 *$/gm, (_, _indent, _fence, block) => {
    code.push(...block.split('\n'));
    return '';
  });
  for (const [, span] of prose.matchAll(/`([^`\n]+)`/g)) code.push(span);
  return code;
}

function missingLinks({ has, read }, document, text) {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/i.test(link))
    .flatMap((link) => {
      const [target, section] = link.split('#');
      const path = target === '' ? document : posix.join(posix.dirname(document), target);
      if (!has(path)) return [`links to ${target}, which is not there`];
      if (section === undefined || sectionsOf(read(path)).has(section)) return [];
      return [`links to ${link}, which is no section there`];
    });
}

/** The names under which GitHub links to the headings of a text. */
function sectionsOf(text) {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function missingPaths(repository, document, code) {
  const folder = DOCUMENTS.includes(document) ? null : posix.dirname(document);
  return code
    .split(/[\s'"`(),;=]+/)
    .map((word) => word.replace(/^\.\//, '').replace(/[.:]+$/, ''))
    .filter((word) => isPath(repository, folder, word) && !exists(repository, folder, word))
    .map((word) => `mentions ${word}, which is not there`);
}

/**
 * A path from the root of the repository, from `src/`, or from the folder that a README.md is about; what has a place to
 * fill in (`<id>`, `{id}`, `$X`) is none.
 */
function isPath({ paths }, folder, word) {
  if (!/^[\w.@*/-]+$/.test(word) || !word.includes('/')) return false;
  const [first] = word.split('/');
  const parents = folder === null ? ['src'] : ['src', folder];
  return (
    TOP_FOLDERS.includes(first) ||
    parents.some((parent) => paths.some((path) => path.startsWith(`${parent}/${first}/`)))
  );
}

function exists({ paths, has }, folder, word) {
  // A flow is mentioned as a job names it: examples/flows/ is copied to flows/examples/.
  const candidates = [
    word,
    `src/${word}`,
    ...(folder === null ? [] : [`${folder}/${word}`]),
    word.replace(/^examples\//, 'examples/flows/'),
  ].map((path) => path.replace(/\/$/, ''));
  if (!word.includes('*')) {
    return candidates.some((path) => has(path) || has(`${path}.ts`));
  }
  return candidates.some((glob) => {
    const pattern = new RegExp(
      `^${glob
        .split(/(\*\*\/|\*\*|\*)/)
        .map(globPart)
        .join('')}$`,
    );
    return paths.some((path) => pattern.test(path));
  });
}

function globPart(part) {
  if (part === '**/') return '(?:.*/)?';
  if (part === '**') return '.*';
  if (part === '*') return '[^/]*';
  return part.replace(/[.+^$|[\]\\]/g, '\\$&');
}

function missingCommands({ read }, code) {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts ?? {});
  const commands = commandsOf({ read });
  const faults = [];
  for (const [, given, other] of code.matchAll(/\bnpm (?:run (?:-\S+ )*([\w:-]+)|(start|test)\b)/g)) {
    const name = given ?? other;
    if (!scripts.includes(name)) faults.push(`mentions npm run ${name}, which package.json does not have`);
  }
  for (const [, name] of code.matchAll(/(?:^|[&|$] *)troupe ([a-z][a-z-]*)/g)) {
    if (!commands.has(name)) faults.push(`mentions troupe ${name}, which ${COMMAND_LINE} does not know`);
  }
  // The package of that name in the public npm registry is somebody else's.
  for (const [spelled] of code.matchAll(
    /\b(?:npx|npm (?:i|install)|npm run|yarn add|pnpm add)(?: -\S+)* troupe(?![\w./-])|\bnode \S*dist\/cli\.js/g,
  )) {
    faults.push(`says ${spelled}: the command is spelled troupe, and the package is installed from its file`);
  }
  return faults;
}

/** The commands that the command line compares its first word with. */
function commandsOf({ read }) {
  return new Set([...read(COMMAND_LINE).matchAll(/^\s*case '([a-z][a-z-]*)':/gm)].map(([, command]) => command));
}

function forgottenFolders({ paths, has, read }) {
  return Object.entries(DRAWN).flatMap(([document, parent]) => {
    if (!has(document)) return [];
    const text = read(document);
    const found = paths.filter((path) => path.startsWith(parent)).map((path) => path.slice(parent.length).split('/'));
    const folders = new Set(found.filter((names) => names.length > 1).map(([name]) => name));
    return [...folders]
      .filter((folder) => !new RegExp(`(?<![\\w-])${folder}/`).test(text))
      .map((folder) => `${document}: does not name ${parent}${folder}/`);
  });
}
