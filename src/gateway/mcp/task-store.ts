import { randomUUID } from 'node:crypto';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const MAX_TASKS = 200;
/** What all ended tasks keep together, in characters of their results. */
const MAX_CHARS = 64 * 1024 * 1024;
/** A task is forgotten so long after its end, in milliseconds. */
const KEPT_MS = 10 * 60_000;
const POLL_MS = 1_000;

/** A call of the tool that goes on after its request was answered. */
export interface RunningCall {
  /** Never rejects: a failed script is a result, too. */
  readonly result: Promise<CallToolResult>;
  /** Stops the script. */
  stop(): void;
}

interface Task {
  readonly id: string;
  readonly caller: string;
  readonly call: RunningCall;
  readonly createdAt: string;
  updatedAt: string;
  state: { readonly kind: 'working' | 'cancelled' } | { readonly kind: 'completed'; readonly result: CallToolResult };
  chars: number;
  timer: NodeJS.Timeout | null;
}

/** What the extension calls a task (https://modelcontextprotocol.io/extensions/tasks). */
export interface TaskView {
  readonly taskId: string;
  readonly status: Task['state']['kind'];
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
  readonly result?: CallToolResult;
  readonly [more: string]: unknown;
}

/**
 * Calls that take long, as tasks of the protocol's extension: in memory, at most 200, forgotten ten minutes after their end or when
 * their results take too much memory, the oldest first. A task is known to the caller that started it only.
 */
export class TaskStore {
  /** The oldest first. */
  readonly #tasks = new Map<string, Task>();

  /** The new task; null if there are too many that still run. */
  add(caller: string, call: RunningCall): TaskView | null {
    if (this.#tasks.size >= MAX_TASKS && !this.#forgetOldest()) return null;
    const now = new Date().toISOString();
    const state = { kind: 'working' } as const;
    const task: Task = { id: randomUUID(), caller, call, createdAt: now, updatedAt: now, state, chars: 0, timer: null };
    this.#tasks.set(task.id, task);
    void call.result.then((result) => this.#complete(task, result));
    return viewOf(task);
  }

  /** @throws ProtocolError (invalid parameters) for a task that does not exist, or is another caller's */
  view(caller: string, id: string): TaskView {
    return viewOf(this.#find(caller, id));
  }

  /** Stops a task that runs; one that has ended stays as it is. @throws ProtocolError as {@link view} does */
  cancel(caller: string, id: string): void {
    const task = this.#find(caller, id);
    if (task.state.kind !== 'working') return;
    this.#end(task, { kind: 'cancelled' });
    task.call.stop();
  }

  /** Stops and forgets everything. Idempotent. */
  async close(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) {
      this.#forget(task);
      if (task.state.kind === 'working') task.call.stop();
    }
    await Promise.all(tasks.map(({ call }) => call.result));
  }

  #find(caller: string, id: string): Task {
    const task = this.#tasks.get(id);
    if (task !== undefined && task.caller === caller) return task;
    const sentence = 'There is no such task; it was forgotten, or the service was restarted';
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentence);
  }

  #complete(task: Task, result: CallToolResult): void {
    if (task.state.kind !== 'working' || !this.#tasks.has(task.id)) return;
    task.chars = JSON.stringify(result).length;
    this.#end(task, { kind: 'completed', result });
    let chars = [...this.#tasks.values()].reduce((sum, one) => sum + one.chars, 0);
    for (const one of [...this.#tasks.values()]) {
      if (chars <= MAX_CHARS) return;
      if (one === task || one.chars === 0) continue;
      chars -= one.chars;
      this.#forget(one);
    }
  }

  #end(task: Task, state: Task['state']): void {
    task.state = state;
    task.updatedAt = new Date().toISOString();
    task.timer = setTimeout(() => this.#forget(task), KEPT_MS).unref();
  }

  /** False if all tasks run. */
  #forgetOldest(): boolean {
    for (const task of this.#tasks.values()) {
      if (task.state.kind === 'working') continue;
      this.#forget(task);
      return true;
    }
    return false;
  }

  #forget(task: Task): void {
    if (task.timer !== null) clearTimeout(task.timer);
    this.#tasks.delete(task.id);
  }
}

function viewOf({ id, state, createdAt, updatedAt }: Task): TaskView {
  return {
    taskId: id,
    status: state.kind,
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: state.kind === 'working' ? null : Date.parse(updatedAt) - Date.parse(createdAt) + KEPT_MS,
    pollIntervalMs: POLL_MS,
    ...(state.kind === 'completed' ? { result: state.result } : {}),
  };
}
