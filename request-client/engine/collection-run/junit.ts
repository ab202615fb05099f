import { plainLine } from '#troupe/base/plain-text.js';
import { type CaseResult, type TestCase, writeJUnit } from '#troupe/report/junit-writer.js';
import { pathsUp } from '../collection/auth.js';
import type { Collection, CollectionNode } from '../collection/collection.js';
import { member } from '../collection/json-access.js';
import { iterationNote, type RequestResult } from './result.js';

/** A request that was run: its name before it is told from equal ones, and its test cases. */
interface Execution {
  readonly name: string;
  readonly cases: readonly { readonly name: string; readonly durationMs: number; readonly result: CaseResult }[];
}

/**
 * The `junit.xml` of a run, for CI servers, which know a test case by its class and name, and merge or drop those that have both
 * in common. The class is the request: its folders and name, `[2]` for the second of that name in a folder, `[iteration 2]`
 * for the second row, and `[run 2]` if it runs again. The second of several tests of one name is `[2]`. What is there
 * once has its plain name, and equal runs have equal names.
 */
export class CollectionJUnit {
  readonly #collection: Collection;
  readonly #startedAt: string;
  readonly #executions: Execution[] = [];
  readonly #paths = new Map<CollectionNode, string>();

  /** @param startedAt ISO 8601 */
  constructor(collection: Collection, startedAt: string) {
    this.#collection = collection;
    this.#startedAt = startedAt;
  }

  /**
   * Adds a test case for each test; one for the request itself if it has no tests or failed. No bodies are kept.
   * @param iteration from 0
   */
  add({ request, tests, error, durationMs }: RequestResult, node: CollectionNode, iteration = 0): void {
    const cases = tests.map(({ name, status, message }) => {
      const failure = { outcome: 'failure', type: 'MATCH_FAILED', message: message || 'failed', text: '' } as const;
      return { name, durationMs: 0, result: status === 'passed' ? PASSED : status === 'skipped' ? SKIPPED : failure };
    });
    const [first] = cases;
    const name = `${this.#pathOf(node)}${iterationNote(iteration)}`;
    if (first !== undefined && error === null) {
      this.#executions.push({ name, cases: [{ ...first, durationMs }, ...cases.slice(1)] });
      return;
    }
    // It got no answer, or a script failed, which no test reports. It comes last: tests keep their names then.
    const result: CaseResult =
      error === null ? PASSED : { outcome: 'error', type: error.code, message: error.error, text: '' };
    this.#executions.push({ name, cases: [...cases, { name: request.name, durationMs, result }] });
  }

  /** @param mask takes secrets out of every text */
  text(mask: (text: string) => string = (text) => text): string {
    // Texts that the mask, the printer, or XML's rules for attributes make equal are equal.
    const shown = (text: string): string => plainLine(mask(text));
    const classes = new UniqueNames((number) => ` [run ${number}]`);
    const cases = this.#executions.flatMap((execution): TestCase[] => {
      const classname = classes.take(shown(execution.name));
      const names = new UniqueNames((number) => ` [${number}]`);
      return execution.cases.map(({ name, durationMs, result }) => ({
        name: names.take(shown(name)),
        classname,
        durationMs,
        result: 'message' in result ? { ...result, message: mask(result.message) } : result,
        earlier: [],
        output: [],
      }));
    });
    const durationMs = cases.reduce((sum, one) => sum + one.durationMs, 0);
    const suite = { id: 'collection', durationMs, startedAt: this.#startedAt, properties: [], cases };
    return writeJUnit([{ ...suite, name: mask(this.#collection.name) }], durationMs);
  }

  #pathOf(node: CollectionNode): string {
    const known = this.#paths.get(node);
    if (known !== undefined) return known;
    const places = pathsUp(node.path).reverse().slice(1);
    const names = places.map((place) => {
      const name = this.#collection.nameAt(place);
      const number = this.#numberAt(place, name);
      return number === 1 ? name : `${name} [${number}]`;
    });
    const path = [this.#collection.name, ...names].join(' / ');
    this.#paths.set(node, path);
    return path;
  }

  /** From 1: which of the folders, or requests, of this name in the same folder it is. */
  #numberAt(place: CollectionNode['path'], name: string): number {
    const isFolder = (path: CollectionNode['path']): boolean => member(this.#collection.at(path), 'item') !== undefined;
    const [folder, last] = [place.slice(0, -1), Number(place.at(-1))];
    const before = Array.from({ length: last }, (_, index) => [...folder, index]);
    const kind = isFolder(place);
    return 1 + before.filter((path) => this.#collection.nameAt(path) === name && isFolder(path) === kind).length;
  }
}

const PASSED: CaseResult = { outcome: 'passed' };
const SKIPPED: CaseResult = { outcome: 'skipped', message: 'Skipped' };

/** Gives each name once: a name that is taken gets a number, the lowest from 2 that makes it another one. */
class UniqueNames {
  readonly #note: (number: number) => string;
  readonly #taken = new Set<string>();
  readonly #last = new Map<string, number>();

  constructor(note: (number: number) => string) {
    this.#note = note;
  }

  take(name: string): string {
    let [number, own] = [this.#last.get(name) ?? 1, name];
    while (this.#taken.has(own)) {
      number += 1;
      own = `${name}${this.#note(number)}`;
    }
    this.#last.set(name, number);
    this.#taken.add(own);
    return own;
  }
}
