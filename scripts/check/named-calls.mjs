import ts from 'typescript';

/** Where the names are declared. */
const SCRIPT_API = 'src/agent-js/script-types/calls.ts';
/** The tables there, by the object whose calls they list. */
const TABLES = {
  agent: ['BROWSER_CALLS', 'SESSION_CALLS'],
  match: ['MATCH_CALLS'],
  Flow: ['FLOW_CALLS'],
  File: ['FILE_CALLS'],
  Request: ['REQUEST_CALLS'],
};
const PLAYWRIGHT = 'src/agent-js/playwright-api/classes.ts';
const MATCHERS = 'src/agent-js/playwright-api/matchers.ts';
/** The table of commands. */
const COMMANDS = 'src/terminal/commands/';
const CONFIG = 'src/config.ts';
const SESSION = 'src/protocol/session.ts';
const ROUTES = 'src/gateway/routes/';

/** What Playwright has and scripts do not, with what to use instead: a table in each file. */
const HINTS = { [PLAYWRIGHT]: 'NOT_OFFERED', [MATCHERS]: 'NOT_MATCHERS' };

/** Calls that only Troupe's own scripts make, or those of a model that repairs a flow. */
const OWN_CALLS = new Set(['agent.recount', 'agent.in', 'Flow.resume']);

/** What follows `troupe` where no command is named. */
const LABELS = new Set(['cluster', 'forwarding', 'journal', 'needs', 'node', 'owner', 'service']);

/** Options that are refused by their former names. */
const FORMER_OPTIONS = new Set(['--exact-screenshots']);

/** Files with texts of other programs: their options are not ours. */
const OTHER_PROGRAMS =
  /^(request-client\/(curl|window|formats)|src\/(containers|report\/html|report\/suite|webdriver)|web)\//;
const FOREIGN_COMMAND = /\b(npm|npx|wsl|brew|curl|git|unshare) [^;,]*--/;

const MENTION =
  /\b(agent|match|Flow|File|Request|page|context|expect)\.\w|\btroupe [a-z]|--[a-z]|troupe\.json|\bdocs\/|\b(GET|PUT|POST|PATCH|DELETE) \/api\//;

/**
 * Names in texts of the sources that do not exist: calls of scripts (`agent.pdf`), commands and their options (`troupe run
 * --list`), keys of `troupe.json`, routes, and pages of `docs/`. So no error, prompt or help sends anyone to what is not there.
 */
export function namedCalls({ paths, read, has }) {
  if (!has(SCRIPT_API)) return [];
  const known = { ...knownNames({ paths, read }), has };
  const sources = paths.filter(
    (path) => /^(src|request-client(?!\/test)|web)\/.*\.(ts|svelte)$/.test(path) && !path.endsWith('.d.ts'),
  );
  return sources.flatMap((path) => {
    const text = read(path);
    if (!MENTION.test(text)) return [];
    const hints = HINTS[path] === undefined ? [] : hintFaults(HINTS[path], text, known);
    const faults = linesOf(path, text).flatMap(({ line, words }) =>
      mentionFaults(path, words, known).map((fault) => ({ line, fault })),
    );
    return [...faults, ...hints].map(({ line, fault }) => `${path}:${line} names ${fault}`);
  });
}

function knownNames({ paths, read }) {
  const calls = read(SCRIPT_API);
  const callsOf = (tables) => new Set(tables.flatMap((table) => [...tableIn(calls, table).keys]));
  const classes = tableIn(read(PLAYWRIGHT), 'CLASSES');
  const members = tableIn(read(PLAYWRIGHT), 'MEMBERS');
  const of = (name) => new Set([...(classes[name]?.keys ?? []), ...(members[name]?.keys ?? [])]);
  const matchers = ['LOCATOR_MATCHERS', 'PAGE_MATCHERS', 'VALUE_MATCHERS'].flatMap((name) => [
    ...tableIn(read(MATCHERS), name).keys,
  ]);
  const asymmetric = [...(/ASYMMETRIC = \[([^\]]*)\]/.exec(read(MATCHERS))?.[1] ?? '').matchAll(/'(\w+)'/g)];
  const table = paths.filter((path) => path.startsWith(COMMANDS)).map(read);
  const commands = optionsOfCommands(table.join('\n'));
  return {
    objects: {
      ...Object.fromEntries(Object.entries(TABLES).map(([name, tables]) => [name, callsOf(tables)])),
      page: of('Page').add('once'),
      context: of('BrowserContext'),
      expect: new Set(['soft', 'poll', 'not', ...asymmetric.map(([, name]) => name)]),
    },
    methods: new Set([
      ...[...classes.keys].flatMap((name) => [...classes[name].keys]),
      ...[...matchers, 'once', 'locator', 'expect', 'match'],
    ]),
    // Of a session: what a request may ask for.
    options: new Set([...read(SESSION).matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)),
    commands,
    flags: new Set([...commands.values()].flatMap((options) => [...options])),
    keys: new Set([...read(CONFIG).matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)),
    routes: new Set(
      paths
        .filter((path) => path.startsWith(ROUTES))
        .flatMap((path) => [...read(path).matchAll(/'\/api\/(\w+)/g)].map(([, name]) => name)),
    ),
  };
}

/** The options of each command, those of its subcommands included: of every object that has `name` and `options`. */
function optionsOfCommands(text) {
  const commands = new Map([['help', new Set(['--help'])]]);
  const declared = declarationsIn(text);
  for (const table of declared.values()) {
    const member = (name) => plain(table?.properties?.find((property) => property.name?.text === name)?.initializer);
    const [name, options] = [member('name'), member('options')];
    if (options === undefined || name === undefined || !ts.isStringLiteral(name)) continue;
    const [word] = name.text.split(' ');
    const known = commands.get(word) ?? new Set(['--help']);
    for (const key of membersOf(declared, declared.get(options.text) ?? options).keys) known.add(`--${key}`);
    commands.set(word, known);
  }
  return commands;
}

/** The object that a file declares under a name: each member with its own members, and `keys`, those of spread objects included. */
function tableIn(text, name) {
  const declared = declarationsIn(text);
  return membersOf(declared, declared.get(name));
}

function declarationsIn(text) {
  const source = ts.createSourceFile('table.ts', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const declared = new Map();
  for (const statement of source.statements) {
    for (const { name: own, initializer } of statement.declarationList?.declarations ?? []) {
      declared.set(own.text, plain(initializer));
    }
  }
  return declared;
}

function membersOf(declared, node) {
  const read = (node) => {
    const table = { keys: new Set() };
    for (const property of node?.properties ?? []) {
      if (ts.isSpreadAssignment(property)) {
        for (const key of read(declared.get(property.expression.text)).keys) table.keys.add(key);
        continue;
      }
      table.keys.add(property.name.text);
      table[property.name.text] = read(plain(property.initializer));
    }
    return table;
  };
  return read(node);
}

/** Without `as const` and `satisfies`. */
function plain(node) {
  return node !== undefined && (ts.isSatisfiesExpression(node) || ts.isAsExpression(node))
    ? plain(node.expression)
    : node;
}

/** The texts of a file, line by line. Those of a component are everything outside of its script, which has its own file type. */
function linesOf(path, text) {
  if (path.endsWith('.svelte')) {
    return text.split('\n').map((words, index) => ({ line: index + 1, words: words.replace(/["'(]#?[./].*$/, '') }));
  }
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const lines = [];
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) return;
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
    if (isText && MENTION.test(node.text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      for (const words of node.text.split('\n')) if (MENTION.test(words)) lines.push({ line: line + 1, words });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

function mentionFaults(path, words, { objects, commands, flags, keys, routes, has }) {
  const faults = [];
  for (const [, object, call] of words.matchAll(
    /(?<![\w./-])(agent|match|Flow|File|Request|page|context|expect)\.([A-Za-z]\w*)/g,
  )) {
    // Of a page, a component has only what its script does with it.
    if (path.endsWith('.svelte') && object !== 'agent') continue;
    if (objects[object].has(call) || OWN_CALLS.has(`${object}.${call}`)) continue;
    faults.push(`${object}.${call}, which scripts do not have`);
  }
  for (const [, command, rest] of words.matchAll(/(?<![\w/.'-])troupe ([a-z]+)(?![\w.'-])([^;,`)]*)/g)) {
    if (LABELS.has(command)) continue;
    const options = commands.get(command);
    if (options === undefined) faults.push(`troupe ${command}, which is no command`);
    for (const [option] of options === undefined ? [] : rest.matchAll(/(?<=^|\s)--[a-z][a-z-]*/g)) {
      if (!options.has(option)) faults.push(`troupe ${command} ${option}, an option that the command does not have`);
    }
  }
  if (!path.endsWith('.svelte') && !OTHER_PROGRAMS.test(path) && words.includes(' ') && !FOREIGN_COMMAND.test(words)) {
    for (const [option] of words.matchAll(/(?<=^|[\s(`])--[a-z][a-z-]*(?![\w=-])/g)) {
      const known = flags.has(option) || FORMER_OPTIONS.has(option) || option === '--help' || option === '--version';
      if (!known) faults.push(`${option}, which no command has`);
    }
  }
  for (const [, quoted, dotted, bare] of words.matchAll(
    /(?:"(\w+)[\w.]*"|\b(\w+)(?:\.\w+)+|\bset (\w+)) (?:in|of) (?:its )?troupe\.json/g,
  )) {
    const key = quoted ?? dotted ?? bare;
    if (!keys.has(key)) faults.push(`"${key}" of troupe.json, which is no setting`);
  }
  for (const [, route] of words.matchAll(/\b(?:GET|PUT|POST|PATCH|DELETE) \/api\/(\w+)/g)) {
    if (!routes.has(route)) faults.push(`/api/${route}, which is no route`);
  }
  for (const [page] of words.matchAll(/(?<![\w/.-])docs\/[\w-]+\.md\b/g)) {
    if (!has(page)) faults.push(`${page}, which is not there`);
  }
  return faults;
}

/** Hints name calls of Playwright without their object (`cookies()`), and options of a session in quotes. */
function hintFaults(table, text, { objects, methods, options }) {
  const start = text.indexOf(`const ${table}`);
  const end = text.indexOf('\n};', start);
  const first = text.slice(0, start).split('\n').length;
  return text
    .slice(start, end)
    .split('\n')
    .flatMap((words, index) => {
      const hint = words.replace(/^ {2}[$\w]+:/, '');
      const calls = [...hint.matchAll(/(?<![\w.])(\w+)\(/g)].filter(
        ([, call]) => !methods.has(call) && !Object.hasOwn(objects, call),
      );
      const asked = [...hint.matchAll(/"(\w+)"(?!\s*[,;]?\s*$)/g)].filter(
        ([, name]) => !options.has(name) && !/^(on|off)$/.test(name),
      );
      return [
        ...calls.map(([, call]) => ({ line: first + index, fault: `${call}(), which scripts do not have` })),
        ...asked.map(([, name]) => ({ line: first + index, fault: `"${name}", which no session takes` })),
      ];
    });
}
