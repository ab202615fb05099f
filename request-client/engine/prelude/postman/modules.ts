import type { Host } from '#troupe/script/prelude/engine.js';

type Load = (name: string) => unknown;
type Wrapper = (
  this: unknown,
  require: Load,
  module: { exports: unknown },
  exports: unknown,
  outer: unknown,
  /** By id: a module may be the same as another, and calls it. */
  table: object,
) => void;

/** What the host knows of a module: its source, a function, and the ids of the modules that it names. */
interface ModuleText {
  readonly source: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * The modules of Postman's sandbox, each loaded once, when it is first required. `own` has modules of ours, by the name
 * under which Postman's modules require them; `real` loads what they replace.
 */
export function moduleLoader(host: Host, own: Readonly<Record<string, (real: () => unknown) => unknown>>): Load {
  const loaded = new Map<string, { exports: unknown }>();
  // The modules are part of the installation; scripts have eval anyway.
  const evaluate = Reflect.get(globalThis, 'eval') as (source: string) => unknown;
  const wrapperOf = (source: string): Wrapper => evaluate(`(${source})`) as Wrapper;
  const table = new Proxy({}, { get: (_, id) => [wrapperOf(textOf(host('module', String(id))).source)] });
  const load: Load = (id) => {
    const known = loaded.get(id);
    if (known !== undefined) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(id, module);
    const { source, dependencies } = textOf(host('module', id));
    const require: Load = (name) => {
      const real = (): unknown => load(dependencies[name] ?? name);
      return own[name]?.(real) ?? real();
    };
    wrapperOf(source).call(module.exports, require, module, module.exports, undefined, table);
    return module.exports;
  };
  return load;
}

function textOf(value: unknown): ModuleText {
  return value as ModuleText;
}
