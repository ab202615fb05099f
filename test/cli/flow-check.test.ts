import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);

t.test('Flows are checked without running them, each fault with its place', async (t) => {
  const home = t.testdir({
    flows: {
      'right.js': "() => Flow.run('./lib/step');",
      'wrong.js': "() => {\n  Flow.run('./nowhere');\n  agent.act('{a}x', 'clik');\n};",
      'data.json': '{}',
    },
  });
  mkdirSync(join(home, 'flows', 'lib'));
  writeFileSync(join(home, 'flows', 'lib', 'step.js'), "() => Flow.run('../right');");
  const check = (...words: string[]) => runTroupe(home, 'flow', ...words);
  const [all, right, none, types] = await Promise.all([
    check('check', join(home, 'flows/**/*.js')),
    check('check', join(home, 'flows/right.js'), join(home, 'flows/lib/step.js')),
    check('check', join(home, 'flows/nope.js')),
    check('types'),
  ]);
  t.equal(all.code, 1);
  t.match(all.output, /^wrong\.js:2:12: There is no flow '\.\/nowhere'/m);
  t.match(all.output, /^wrong\.js:3:21: Unknown action 'clik'/m);
  t.match(all.output, /3 flows in .*flows, 2 errors\n/);
  t.match(right, { code: 0, output: /2 flows in .*flows, no errors\n$/ });
  t.match(none, { code: 2, output: /There is no file or folder '.*nope\.js'/ });
  t.match(types, { code: 0, output: /declare const agent: AgentJs\.Agent;/ });
});
