import ts from 'typescript';

/**
 * Files whose patterns never see text of pages, servers, other programs or files of other tools, by the beginning of their
 * path. Everything else in `src/`, `request-client/` and `web/` is checked.
 */
const OWN_TEXT = {
  // Scripts and flows: JavaScript itself ends lines at U+2028 and U+2029.
  'src/agent-js/flows/leading-comment.ts': 'JavaScript',
  'src/script/': 'JavaScript',
  'web/dashboard/data/flow-file.ts': 'JavaScript',
  'web/dashboard/editor/': 'JavaScript',
  // Bytes, one a character, so that none is U+2028.
  'request-client/curl/import/': 'bytes',
  // The configuration, checked value by value.
  'src/config/': 'own settings',
  'src/cli/help.ts': 'own text',
  'src/gateway/openapi/': 'own paths',
  'web/build-pages.mjs': 'own paths',
};

/**
 * Patterns that end lines at U+2028 and U+2029: `.` without the flag `s` does not match them, and with the flag `m`, `^` and
 * `$` match beside them. Both characters are text in JSON, HTTP and pages, so such a pattern loses what contains them.
 */
export function foreignText({ paths, read }) {
  return paths
    .filter((path) => /^(src|request-client(?!\/test)|web)\/.*\.(ts|mjs|svelte)$/.test(path) && !path.endsWith('.d.ts'))
    .filter((path) => !Object.keys(OWN_TEXT).some((own) => path.startsWith(own)))
    .flatMap((path) => patternsIn(path, read(path)));
}

function patternsIn(path, text) {
  // What is not script is replaced by spaces, so that positions stay.
  const code = path.endsWith('.svelte') ? scriptOf(text) : text;
  if (!code.includes('/')) return [];
  const source = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const found = [];
  const visit = (node) => {
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const why = fault(node.text);
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      if (why !== null) found.push(`${path}:${line + 1} ${why}: ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function scriptOf(text) {
  const blank = (part) => part.replace(/[^\n]/g, ' ');
  let code = '';
  let at = 0;
  for (const { 0: all, 1: script, index } of text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) {
    const start = index + all.indexOf('>') + 1;
    code += blank(text.slice(at, start)) + script;
    at = start + script.length;
  }
  return code + blank(text.slice(at));
}

function fault(literal) {
  const end = literal.lastIndexOf('/');
  const flags = literal.slice(end + 1);
  const bare = literal
    .slice(1, end)
    .replace(/\\./gs, '')
    .replace(/\[[^\]]*\]/g, '');
  if (bare.includes('.') && !flags.includes('s'))
    return 'has a "." that does not match U+2028: use the flag s, or [^\\n]';
  if (/[$^]/.test(bare) && flags.includes('m'))
    return 'ends lines at U+2028: use (^|\\n) and (\\n|$) without the flag m';
  return null;
}
