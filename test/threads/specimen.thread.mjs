// A thread that does what its task says.
import { taskFunction } from '#troupe/threads/task-function.js';

export const answer = taskFunction((task) => task);
export const exit = taskFunction((code) => process.exit(code));
export const fillMemory = taskFunction(() => {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
});
export const reject = taskFunction(() => Promise.reject(new RangeError('too far')));
export const rejectElsewhere = taskFunction(() => {
  void Promise.reject(new RangeError('elsewhere'));
  return new Promise(() => undefined);
});
export const answerThenDie = taskFunction(() => {
  setImmediate(() => process.exit(3));
  return 'last words';
});
export const hang = taskFunction(() => new Promise(() => undefined));
export const loop = taskFunction(() => {
  for (;;);
});
