import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';

interface PostmanModule {
  readonly source: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface PostmanModules {
  /** The ids of modules that are used by name. */
  readonly names: Readonly<Record<string, string>>;
  /** What scripts can require. */
  readonly exposed: readonly string[];
  readonly dynamic: readonly string[];
  readonly modules: Readonly<Record<string, PostmanModule>>;
}

type Generator = () => unknown;
type Wrapper = (...args: readonly unknown[]) => unknown;

let known: PostmanModules | null = null;
let dynamic: ReadonlyMap<string, Generator> | null = null;

/** The modules of Postman's sandbox, which the build made (scripts/support/postman-modules.mjs). Read once, 2 MB. */
function postmanModules(): PostmanModules {
  const file = new URL('../prelude/postman-modules.json', import.meta.url);
  known ??= JSON.parse(readFileSync(file, 'utf8')) as PostmanModules;
  return known;
}

/** The names that scripts can require. */
export function exposedModules(): readonly string[] {
  return postmanModules().exposed;
}

/** The names of Postman's dynamic variables, with the dollar sign. */
export function dynamicNames(): readonly string[] {
  return postmanModules().dynamic;
}

/** @throws RangeError if there is no module of that id or name */
export function postmanModule(id: string): PostmanModule {
  const { names, modules } = postmanModules();
  const found = modules[names[id] ?? id];
  if (found === undefined) throw new RangeError(`Postman's sandbox has no module ${id}`);
  return found;
}

/** Postman's dynamic variables by name, with the dollar sign: each call makes a new value. */
export function dynamicVariables(): ReadonlyMap<string, Generator> {
  dynamic ??= loadDynamicVariables();
  return dynamic;
}

/** These run outside of the sandbox: they are part of the installation, and get nothing of a script. */
function loadDynamicVariables(): ReadonlyMap<string, Generator> {
  const loaded = new Map<string, { exports: unknown }>();
  const wrapperOf = (source: string): Wrapper => {
    const wrapper: unknown = compileFunction(`return (${source})`)();
    if (typeof wrapper !== 'function') throw new TypeError('A module of Postman is not a function');
    return (...args) => wrapper(...args) as unknown;
  };
  // A module may be the same as another, and calls it.
  const table = new Proxy({}, { get: (_, id) => [wrapperOf(postmanModule(String(id)).source)] });
  const load = (id: string): unknown => {
    const own = loaded.get(id);
    if (own !== undefined) return own.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(id, module);
    const { source, dependencies } = postmanModule(id);
    const require = (name: string): unknown => load(dependencies[name] ?? name);
    wrapperOf(source)(require, module, module.exports, undefined, table);
    return module.exports;
  };
  const made = load('./dynamic-variables');
  const entries = typeof made === 'object' && made !== null ? Object.entries(made) : [];
  return new Map(
    entries.flatMap(([name, { generator }]: [string, { generator?: unknown }]) =>
      typeof generator === 'function' ? [[name, () => generator() as unknown] as const] : [],
    ),
  );
}
