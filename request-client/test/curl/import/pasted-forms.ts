import fc from 'fast-check';
import { browserForms } from './browser-forms.js';
import { PLACE } from './posix-commands.js';

/** A command as bash runs it, and the text that is pasted instead. */
export interface PastedForm {
  readonly command: string;
  readonly pasted: string;
}

/** What surrounds a command in documentation, chats and terminals. */
const AROUND: Readonly<Record<string, (command: string) => string>> = {
  'in a code block': (command) => `Create it:\n\n\`\`\`bash\n${command}\n\`\`\`\n\nThat's all.\n`,
  'in a code block of a list': (command) =>
    `1. Create it:\n\n   ~~~~\n${command.replace(/^/gm, '   ')}\n   ~~~~\n2. That's all.\n`,
  'in a quotation': (command) => command.replace(/^/gm, '> '),
  'from a terminal': (command) => `me@box:~/shop$ ${command.replaceAll('\n', '\n> ')}\n`,
};

/** The same commands in all that may surround them, by its name. */
export function surrounded(commands: readonly string[]): Record<string, PastedForm[]> {
  return Object.fromEntries(
    Object.entries(AROUND).map(([name, around]) => [
      name,
      commands.map((command) => ({ command, pasted: around(command) })),
    ]),
  );
}

const plain = fc.string({ unit: fc.constantFrom(...'ab c=é:,;&/{}[]?%12'.split(/(?:)/u)), maxLength: 20 });

/** Commands as a word processor leaves them: curly quotes, dashes, and spaces that do not break. */
export const typographicForm: fc.Arbitrary<PastedForm> = fc
  .tuple(fc.constantFrom('PUT', 'PATCH'), plain, plain, fc.constantFrom(' ', '\u00a0'), fc.boolean())
  .map(([method, header, value, blank, long]) => {
    const body = JSON.stringify({ [header]: value });
    const curly = body.replace(/"([^"]*)"/g, '“$1”');
    const data = long ? 'data-raw' : 'd';
    return {
      command: `curl -X ${method} "${PLACE}/" -H "X-A: ${header}x" --${long ? data : 'data-raw'} '${body}'`,
      pasted: `curl –X${blank}${method} “${PLACE}/” –H${blank}“X-A: ${header}x” ${long ? '—data-raw' : '–d'} ‘${curly}’`,
    };
  });

/** As Firefox copied requests for cmd before it used carets: quotes and backslashes doubled, `%` in quotes. */
function quotedTwice(text: string): string {
  return `"${text.replaceAll('"', '""').replaceAll('%', '"%"').replaceAll('\\', '\\\\')}"`;
}

/** Requests of the browsers' table that this form can hold. */
export function doubledQuoteForms(): readonly (typeof browserForms)[number][] {
  return browserForms
    .filter(
      ({ form, headers, body }) =>
        form === 'firefox-cmd' && !/[\r\n\t]/.test(JSON.stringify([headers, body])) && !/[\r\n]/.test(body ?? ''),
    )
    .filter(({ headers, body }) =>
      [body ?? '', ...headers.map(([, value]) => value)].some((text) => text.includes('"')),
    )
    .map((row) => {
      const url = quotedTwice(`http://capture.invalid${row.target}`);
      const headers = row.headers.map(
        ([name, value]) => ` -H ${quotedTwice(value === '' ? `${name};` : `${name}: ${value}`)}`,
      );
      const data = row.body === null ? '' : ` --data-raw ${quotedTwice(row.body)}`;
      // curl's own, for --compressed.
      const sent: [string, string][] = [...row.headers, ['Accept-Encoding', 'deflate, gzip, br, zstd']];
      return { ...row, headers: sent, text: `curl ${url} -X ${row.method} --compressed${headers.join('')}${data}` };
    });
}
