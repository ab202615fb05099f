import { type ErrorBody, encodeError } from '../protocol/errors.js';

/** What a thread gets. */
export interface TaskMessage<T> {
  readonly task: T;
  /** Shared: set to 1 when the thread begins the task. */
  readonly begun: Int32Array;
}

/** What a thread answers. An error that is thrown across threads would lose its code. */
export type TaskAnswer = { readonly value: unknown } | { readonly error: ErrorBody };

/** An export of a thread's module, as `TaskThreads` calls it. */
export type TaskFunction<T> = (message: TaskMessage<T>) => Promise<TaskAnswer>;

/** Makes a thread's export of a function that gets a task and returns its answer, or throws. */
export function taskFunction<T>(work: (task: T) => unknown): TaskFunction<T> {
  return async ({ task, begun }) => {
    Atomics.store(begun, 0, 1);
    try {
      return { value: await work(task) };
    } catch (error) {
      return { error: encodeError(error) };
    }
  };
}
