import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { moduleTypes, scriptTypes } from '#troupe/agent-js/script-api.js';
import { FLOWS_TSCONFIG } from '#troupe/cli/run/types-command.js';
import { compile, undocumented } from '../support/compile.js';
import { blockFiles, docBlocks } from '../support/doc-blocks.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const ROOT = process.cwd();
/** Where the blocks are for the compiler: packages are found from here. */
const FOLDER = join(ROOT, 'test/docs/blocks');

/** What flows have in place of what lib.dom has under the same name. */
const OWN_NAMES = `const { status, unresolved } = Request.run('shop/Ask');
console.log(args, status.toFixed(), unresolved.join(), File.read(File.list('*')[0] ?? '').trim());
// @ts-expect-error
new File([], 'a');
// @ts-expect-error
agent.goto('a');
agent.clock.resume() === null;
`;

/** What functions return arrives as JSON. */
const RESULTS = `import type { Agent } from 'troupe/agent-js';
import type { Session } from 'troupe/client';
declare const session: Session;
const at: string = await session.run(() => new Date());
const none: null = await session.run(({ url }: { url: string }) => void agent.go(url), { url: 'a' });
const index: number | null = await session.run(() => agent.tabs().find(({ active }) => active)?.index);
const found: string[] = await session.run(() => agent.until(() => agent.text('h1') === 'x' && ['x']));
const act: Agent['act'] = agent.act;
const file: File = new File([at, String(none), String(index), ...found], act.name);
// @ts-expect-error
agent.goto(file.name);
// @ts-expect-error
await session.run(({ url }: { url: string }) => agent.go(url), { url: 1 });
`;

// What takes long: Node's own types, those of Playwright Test, and other settings are in typescript-versions.test.ts.
t.test('The programs in README.md and docs/ compile as they are, beside lib.dom', (t) => {
  const programs = docBlocks().filter(({ language, text }) => language === 'ts' && !/playwright/.test(text));
  t.ok(programs.length >= 4, `${programs.length} programs`);
  const texts = blockFiles(FOLDER, programs);
  const types = join(FOLDER, 'agent-js.d.ts');
  texts.set(types, moduleTypes());
  texts.set(join(FOLDER, 'results.ts'), RESULTS);
  texts.set(join(FOLDER, 'node.d.ts'), 'declare const process: { env: { [name: string]: string | undefined } };');
  const { program, faults } = compile(
    texts,
    {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      moduleDetection: ts.ModuleDetectionKind.Force,
      types: [],
      paths: {
        'troupe/client': [join(ROOT, 'src/client/index.ts')],
        'troupe/agent-js': [types],
        '#troupe/*': [join(ROOT, 'src/*')],
      },
    },
    { nameOf: (path) => path.slice(FOLDER.length + 1) },
  );
  t.same(faults, []);
  const isOwn = (path: string) =>
    path === types || /\/src\/client\/(?:batch|session|session-files|session-handle|troupe)\.ts$/.test(path);
  t.same(undocumented(program, isOwn), [], 'an editor says what each call does');
  t.end();
});

t.test('The flows and scripts in README.md and docs/, and the examples, compile with what troupe types writes', (t) => {
  const scripts = docBlocks().filter(({ language }) => language === 'js');
  t.ok(scripts.length >= 20, `${scripts.length} scripts`);
  const examples = readdirSync('examples/flows').filter((name) => name.endsWith('.js'));
  const texts = blockFiles(FOLDER, scripts);
  texts.set(join(FOLDER, 'troupe.d.ts'), scriptTypes());
  texts.set(join(FOLDER, 'own-names.js'), OWN_NAMES);
  const { options } = ts.convertCompilerOptionsFromJson(JSON.parse(FLOWS_TSCONFIG).compilerOptions, ROOT);
  const { faults } = compile(texts, options, {
    files: examples.map((name) => join(ROOT, 'examples/flows', name)),
    nameOf: (path) => path.slice(ROOT.length + 1),
  });
  t.same(faults, []);
  t.ok(readFileSync('docs/ci.md', 'utf8').includes(FLOWS_TSCONFIG), 'docs/ci.md has the settings that it prints');
  t.end();
});
