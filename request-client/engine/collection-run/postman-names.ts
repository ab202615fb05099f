/** The globals of Postman's sandbox. Those that a script mentions become its parameters. */
const POSTMAN_NAMES = [
  'pm',
  'postman',
  'tests',
  'environment',
  'globals',
  'data',
  'iteration',
  'responseBody',
  'responseCode',
  'responseTime',
  'responseHeaders',
  'responseCookies',
  'require',
  'JSON',
  '_',
  'CryptoJS',
  'atob',
  'btoa',
  'tv4',
  'xml2Json',
  'Backbone',
  'cheerio',
  'Buffer',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
];
const WORD = /[$\w]+/g;

/** The names that a script may use: each word counts, also in texts. All of them if it evaluates code. */
export function postmanNames(source: string): string[] {
  const words = new Set(source.match(WORD));
  if (words.has('eval') || words.has('Function')) return POSTMAN_NAMES;
  return POSTMAN_NAMES.filter((name) => words.has(name));
}
