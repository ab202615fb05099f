import type { Program } from 'acorn';
import { SyntaxParser } from '../../base/syntax-parser.js';
import { TroupeError } from '../../protocol/errors.js';

/**
 * The script that runs the code of `/function`: a module whose default export is a function of `{ page, context }`.
 * `page` is that of scripts, which is Playwright's.
 * @throws INVALID_REQUEST
 */
export function functionScript(code: string, context: unknown): string {
  const { start, end } = exportOf(code);
  const module = `${code.slice(0, start)}const __exported = ${code.slice(end)}`;
  return `${module}\n;await __exported({ page, context: ${JSON.stringify(context ?? {})} });`;
}

/** Where `export default` is. */
function exportOf(code: string): { readonly start: number; readonly end: number } {
  let body: Program['body'];
  try {
    ({ body } = SyntaxParser.parse(code, { sourceType: 'module', ecmaVersion: 'latest' }));
  } catch (error) {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The code cannot be parsed: ${error instanceof Error ? error.message : ''}`,
    );
  }
  if (body.some(({ type }) => type === 'ImportDeclaration')) {
    throw new TroupeError(
      'INVALID_REQUEST',
      'The code imports a module, which is not possible here; remove the import',
    );
  }
  const found = body.find((node) => node.type === 'ExportDefaultDeclaration');
  if (found?.type !== 'ExportDefaultDeclaration') {
    throw new TroupeError('INVALID_REQUEST', 'The code must have `export default async function ({ page, context })`');
  }
  return { start: found.start, end: found.declaration.start };
}
