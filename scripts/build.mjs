// Builds dist/ from src/. Every TypeScript file becomes one ES module. Every `*.entry.ts` (code that runs inside a page
// or inside the script sandbox) becomes a `*.bundle.js` besides: the text of an expression whose value is its `install`.
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');
const dist = join(root, 'dist');

const files = (await readdir(src, { recursive: true })).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.d.ts'),
);
await build({
  entryPoints: files.map((file) => join(src, file)),
  outdir: dist,
  outbase: src,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});
for (const file of files.filter((name) => name.endsWith('.entry.ts'))) {
  const { outputFiles } = await build({
    entryPoints: [join(src, file)],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'entry',
    target: 'es2023',
    logLevel: 'warning',
  });
  const target = join(dist, relative(src, join(src, file)).replace(/\.entry\.ts$/, '.bundle.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, `(function () {\n${outputFiles[0].text}\nreturn entry.install;\n})()\n`);
}
await chmod(join(dist, 'cli.js'), 0o755).catch(() => undefined);
