import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { guardLeaks } from '../support/leaks.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

/** Each with the line of its mistake. */
const FLOW = `interface Args { user: string; retries: number }
({ user, retries }: Args) => {
  agent.act('{input}User', 'tipe', user);
  agent.wait('idle', { timeOut: 5 });
  agent.expect('h1').toHaveTxt('Hello');
  const title: number = agent.text('h1');
  Flow.run(retries);
  const ben = agent.session('ben', { state: 'ben' });
  ben.expect(ben).toHaveTitle('Hello');
  ben.handoff('Solve it');
  return title;
};
`;

t.test("troupe types writes types with which TypeScript's language service finds six planted mistakes", async (t) => {
  const home = t.testdir({ flows: { 'login.ts': FLOW } });
  const wrote = await runTroupe(home, 'types', '--flows', join(home, 'flows'));
  t.match(wrote, { code: 0, output: /troupe\.d\.ts\n/ });
  const settings: unknown = JSON.parse(wrote.output.slice(wrote.output.indexOf('{')));
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(settings, ts.sys, join(home, 'flows'));
  t.same(errors, []);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) =>
      ts.sys.fileExists(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, 'utf8')) : undefined,
    getCurrentDirectory: () => home,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  });
  t.teardown(() => service.dispose());
  const flow = fileNames.find((file) => file.endsWith('login.ts')) ?? '';
  const found = [...service.getSyntacticDiagnostics(flow), ...service.getSemanticDiagnostics(flow)];
  const lines = found.map(({ start = 0 }) => FLOW.slice(0, start).split('\n').length);
  t.same(lines.sort(), [10, 3, 4, 5, 6, 7]);
});
