// Takes Postman's sandbox apart. The package postman-sandbox is one bundle of everything that a script of Postman can use, and takes
// half a second to start in our engine. Its modules are loaded one by one instead, each when a script needs it.
import { createRequire } from 'node:module';
import { parse } from 'acorn';

/** Modules that are used by name, besides those that scripts can require. By the module that requires them. */
const ENTRIES = {
  './execution': './execute',
  'chai-postman': './execute',
  './xml2Json': './postman-legacy-interface',
  lodash3: './postman-legacy-interface',
  './dynamic-variables': './superstring',
};
/** Parts of the bundle that are of no use to scripts. */
const HIDDEN = ['_process', 'fs', 'json', 'os'];

/**
 * @param {string} folder an absolute path; postman-sandbox is installed in its node_modules
 * @returns {Promise<object>} `names`: the id of each module that is used by name; `exposed`: the names that scripts can require;
 *   `dynamic`: the names of Postman's dynamic variables; `modules`: by id, the source of a function of `require`, `module` and `exports`, and the ids of what it requires
 */
export async function postmanModules(folder) {
  const bundle = createRequire(`${folder}/`)('postman-sandbox/.cache/bootcode.browser.js');
  const code = await new Promise((resolve, reject) => {
    bundle((error, text) => (error ? reject(error) : resolve(String(text))));
  });
  const [statement] = parse(code, { ecmaVersion: 'latest' }).body;
  const [table] = statement?.expression?.right?.arguments ?? [];
  if (table?.type !== 'ObjectExpression')
    throw new Error('The bundle of postman-sandbox has another form than expected');
  const all = new Map();
  const nameOf = (node) => String(node.value ?? node.name);
  for (const { key, value } of table.properties) {
    const [wrapper, dependencies] = value.elements;
    all.set(nameOf(key), {
      source: code.slice(wrapper.start, wrapper.end),
      dependencies: Object.fromEntries(dependencies.properties.map((one) => [nameOf(one.key), nameOf(one.value)])),
    });
  }
  const exposed = [...all.keys()].filter((id) => !/^\d+$/.test(id) && !HIDDEN.includes(id));
  const names = Object.fromEntries(exposed.map((id) => [id, id]));
  for (const name of Object.keys(ENTRIES)) {
    const owner = [...all.values()].find(({ dependencies }) => name in dependencies);
    if (owner === undefined) throw new Error(`The bundle of postman-sandbox has no module ${name}`);
    names[name] = owner.dependencies[name];
  }
  const modules = {};
  const waiting = Object.values(names);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const module = all.get(id);
    if (id in modules || module === undefined) continue;
    modules[id] = module;
    // Of equal modules the bundle has one, which the others call.
    for (const [, same] of module.source.matchAll(/arguments\[4\]\[(\d+)\]/g)) waiting.push(same);
    waiting.push(...Object.values(module.dependencies));
  }
  const { source } = modules[names['./dynamic-variables']];
  const dynamic = [...source.matchAll(/(\$\w+):\{description/g)].map(([, name]) => name);
  if (dynamic.length < 100) throw new Error('The dynamic variables of postman-sandbox have another form than expected');
  return { names, exposed: exposed.sort(), dynamic, modules };
}
