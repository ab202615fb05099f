import { CLASSES, type ClassName, MEMBERS, type Methods, NOT_OFFERED } from './classes.js';
import { ASYMMETRIC, LOCATOR_MATCHERS, NOT_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS } from './matchers.js';
import { signatureOf, whyNotOffered } from './signature.js';

/** What the sandbox builds its objects from, as pairs. */
export interface SandboxTable {
  readonly classes: readonly {
    readonly name: string;
    /** The method, and the class that the chain goes on with; null: the call runs. */
    readonly methods: readonly (readonly [name: string, next: string | null])[];
    readonly members: readonly (readonly [name: string, of: string])[];
    /** Methods that are not offered, with the error's text. */
    readonly refused: readonly (readonly [name: string, why: string])[];
  }[];
  readonly matchers: readonly string[];
  readonly asymmetric: readonly string[];
}

let made: SandboxTable | null = null;

export function sandboxTable(): SandboxTable {
  made ??= {
    classes: Object.entries(CLASSES).flatMap(([name, methods]) => (isKnown(name) ? [classOf(name, methods)] : [])),
    matchers: [
      ...new Set(
        [LOCATOR_MATCHERS, PAGE_MATCHERS, VALUE_MATCHERS, NOT_MATCHERS].flatMap((table) => Object.keys(table)),
      ),
    ],
    asymmetric: ASYMMETRIC,
  };
  return made;
}

function classOf(name: ClassName, methods: Methods): SandboxTable['classes'][number] {
  return {
    name,
    methods: Object.keys(methods).map((method) => {
      const result = signatureOf(name, method)?.result;
      return [method, result?.kind === 'chain' ? result.of : null] as const;
    }),
    members: Object.entries(MEMBERS[name] ?? {}),
    refused: Object.keys(NOT_OFFERED)
      .filter((method) => !Object.hasOwn(methods, method))
      .map((method) => [method, whyNotOffered(name, method)] as const),
  };
}

function isKnown(name: string): name is ClassName {
  return Object.hasOwn(CLASSES, name);
}
