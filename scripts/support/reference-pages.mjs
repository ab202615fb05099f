const INTRODUCTION = `# Command line

<!-- Written by \`npm run docs\` from \`src/terminal/commands\`: change it there. -->

\`troupe --help\` names the commands, \`troupe help all\` lists them with their subcommands, and \`troupe run --help\` explains one.
\`troupe run --help all\` has all its options. Unless a command says otherwise, its exit code is 0 if it is done, 1 if it failed, and 2 if it
was called wrongly. [The home](configuration.md#the-home) says which folder and which service a command uses, and
[Environment variables](configuration.md#environment-variables) lists what it reads besides its options.
`;

/** docs/cli.md, of the table of commands. */
export function commandPage(commands, help) {
  const list = tableOf(
    ['command', 'what it does'],
    commands.map(({ name, summary }) => [`[\`troupe ${name}\`](#troupe-${name.replaceAll(' ', '-')})`, cell(summary)]),
  );
  return `${[INTRODUCTION.trimEnd(), list, ...commands.map((command) => sectionOf(command, help))].join('\n\n')}\n`;
}

function sectionOf(command, help) {
  const { name, summary, notes = [], details = [], example, exitCodes } = command;
  const sentences = [`${summary}.`, ...notes, ...details];
  const level = name.includes(' ') ? '###' : '##';
  const code = [...help.usageOf(command), ...(example === undefined ? [] : ['', '# example', example])];
  const groups = help.groupsOf(help.shownOptions(command)).map(([group, options]) => {
    const table = tableOf(
      ['option', 'meaning'],
      options.map(([option, of]) => [`\`${cell(help.spelledOption(option, of))}\``, cell(help.optionText(of))]),
    );
    return group === 'Options' ? table : `**${group}**\n\n${table}`;
  });
  const codes = exitCodes?.map((text, number) => `${number} ${text}`).join('; ');
  return [
    `${level} troupe ${name}`,
    sentences.filter((text) => !isItem(text)).join('\n'),
    ...(sentences.some(isItem) ? [sentences.filter(isItem).join('\n')] : []),
    `\`\`\`sh\n${code.join('\n')}\n\`\`\``,
    ...groups,
    ...(codes === undefined ? [] : [`Exit codes: ${codes}.`]),
  ].join('\n\n');
}

/** The keys of a JSON schema that can be set, with dots between the parts of nested ones, and their defaults. */
export function keysOf(schema, path = '') {
  const found = new Map();
  for (const alternative of schema.anyOf ?? [schema]) {
    for (const [name, member] of Object.entries(alternative.properties ?? {})) {
      for (const [key, value] of keysOf(member, path === '' ? name : `${path}.${name}`)) found.set(key, value);
    }
  }
  return found.size > 0 ? found : new Map([[path, schema.default]]);
}

/** docs/configuration.md with the table of keys written anew, between its markers. */
export function configurationPage(page, { texts, schema }) {
  const defaults = keysOf(schema);
  const table = tableOf(
    ['key', 'default', 'meaning'],
    Object.entries(texts).map(([key, { text, unset = '' }]) => [
      `\`${key}\``,
      defaultText(defaults.get(key)) || unset,
      cell(text),
    ]),
  );
  const [start, end] = ['<!-- Written by `npm run docs`, from src/config/config-keys.ts. -->', '<!-- End. -->'];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/configuration.md has no markers ${start} and ${end}`);
  return `${page.slice(0, from + start.length)}\n\n${table}\n\n${page.slice(to)}`;
}

function defaultText(value) {
  if (value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A table as the formatter writes it: columns are as wide as their widest cell. */
function tableOf(headings, rows) {
  const widths = headings.map((heading, index) => Math.max(heading.length, ...rows.map((row) => row[index].length)));
  const line = (cells) => `| ${cells.map((text, index) => text.padEnd(widths[index])).join(' | ')} |`;
  return [line(headings), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Of a list. */
function isItem(text) {
  return text.startsWith('- ');
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
