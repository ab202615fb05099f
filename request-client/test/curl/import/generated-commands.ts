import fc from 'fast-check';
import { PLACE, QUOTINGS } from './posix-commands.js';

/** Typical text: mostly plain, with characters that are special to shells and curl. */
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(...'ab=&+%{}[]"\'\\$`!#;|<>()*?~ @^,:/é🫖\n'.split(/(?:)/u)),
    maxLength: 20,
  }),
);
const line = text.map((value) => value.replace(/[\n\r]/g, ' '));
const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/);
/** Without what curl rejects or reads as a pattern. */
const urlPart = fc.string({ unit: fc.constantFrom(...'ab1/=&%.-_~;:@!$\'()*+,é|"<>'.split(/(?:)/u)), maxLength: 16 });

const option: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 4, arbitrary: line.map((value) => ['-H', `X-Made: ${value}x`]) },
  { weight: 2, arbitrary: fc.tuple(token, line).map(([name, value]) => ['--header', `X-${name}: ${value}`]) },
  fc.constantFrom<string[][]>(
    ['-H', 'Accept:'],
    ['-H', 'X-Empty;'],
    ['-A', 'agent/1'],
    ['-e', 'http://r/'],
    ['-u', 'u:p w'],
  ),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('-d', '--data-raw', '--data-binary'), text)
      .map(([o, v]) => [o, v.replace(/^@/, '_')]),
  },
  line.map((value) => ['--data-urlencode', `k=${value}`]),
  line.map((value) => ['--json', JSON.stringify({ value })]),
  fc.constantFrom('PUT', 'DELETE', 'PATCH', 'PURGE').map((method) => ['-X', method]),
  token.map((value) => ['-b', `${value}=1`]),
  fc.constantFrom<string[][]>(['-s'], ['-L'], ['--compressed'], ['-G'], ['-sSf'], ['--no-buffer'], ['-o', '/dev/null']),
);

/**
 * Commands for bash: options in any order, each argument quoted in one of the ways, separated by spaces or
 * continuations.
 */
export const generatedCommand: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(fc.tuple(option, fc.nat(), fc.boolean()), { maxLength: 6 }),
    urlPart,
    fc.nat(),
    fc.option(urlPart, { nil: undefined }),
  )
  .map(([options, path, way, query]) => {
    // A URL is quoted in a way that keeps its placeholder in one piece.
    const url = `${PLACE}/${path}${query === undefined ? '' : `?${query}`}`;
    const quoting = (index: number): ((value: string) => string) => QUOTINGS[index % QUOTINGS.length] ?? String;
    const words = options.map(([parts, seed, wraps]) => {
      const [name = '', ...values] = parts;
      const written = values.map((value) => quoting(seed)(value.replaceAll('\0', '')));
      return `${[name, ...written].join(' ')}${wraps ? ' \\\n ' : ''}`;
    });
    const at = way % (words.length + 1);
    words.splice(at, 0, `'${url.replaceAll("'", "'\\''")}'`);
    return `curl ${words.join(' ')}`;
  });
