// The hooks of test-loader.mjs. They run on a thread of their own.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** In TypeScript a relative `./x.js` means `./x.ts`. */
export async function resolve(specifier, context, next) {
  const relative = context.parentURL?.endsWith('.ts') === true && /^\..*\.js$/.test(specifier);
  return next(relative ? specifier.replace(/js$/, 'ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await transform(source, { loader: 'ts', sourcemap: 'inline', sourcefile: url, target: 'node20' });
  return { format: 'module', source: code, shortCircuit: true };
}
