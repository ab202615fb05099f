import { readPowerShellTokens } from './powershell-tokens.js';

const CLASS_NAME = /^(?:new-object|system\.[\w.]+|\[system\.[\w.]+\]::\w+(?:\.\w+)?)$/i;

/** The strings in an expression, at any depth, in their order; names of classes and methods are omitted. */
export function stringsIn(expression: string): string[] {
  return readPowerShellTokens(expression, 'expression').flatMap(({ tokens }) =>
    tokens.flatMap((token) => {
      if (token.kind === 'group') return stringsIn(token.inner);
      return CLASS_NAME.test(token.text) ? [] : [token.text];
    }),
  );
}
