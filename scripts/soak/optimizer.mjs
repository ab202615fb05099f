import { execFileSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';

/** How many times as soon as usual a function is taken for hot while the optimizer hurries. */
const SOONER = 10;

/**
 * V8's optimizer, in all threads of this process. It compiles a function when so much of it has run; what is seldom used gets
 * hot after hours, and until then memory grows with what it keeps. In a hurry it has come that far within minutes.
 */
export class Optimizer {
  /** Bytes of bytecode that a function has run by then. */
  #usual = defaultOf('--interrupt-budget');

  hurry() {
    setFlagsFromString(`--interrupt-budget=${Math.ceil(this.#usual / SOONER)}`);
  }

  /** As it is shipped. */
  asUsual() {
    setFlagsFromString(`--interrupt-budget=${this.#usual}`);
  }
}

function defaultOf(flag) {
  const options = execFileSync(process.execPath, ['--v8-options']).toString();
  const [, value] = new RegExp(`default: ${flag}=(\\d+)`).exec(options) ?? [];
  if (value === undefined) throw new Error(`This Node's V8 has no ${flag}`);
  return Number(value);
}
