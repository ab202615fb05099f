/**
 * Reads what tap writes, line by line (https://testanything.org/tap-version-14-specification.html): counts the outcomes,
 * remembers the files that failed, and hands on the lines that a person wants to see: one for each file, and everything
 * about what fails or is skipped.
 */
export class TapReader {
  counts = { passed: 0, failed: 0, skipped: 0 };
  /** Paths of test files that failed, in the order of their ends. */
  failedFiles = [];
  #show;
  #inFailure = false;

  /** @param show is called with each line to print */
  constructor(show) {
    this.#show = show;
  }

  read(line) {
    const [, indent, not, name] = /^(\s*)(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (name === undefined) {
      // What tap says of a failure stands in the block after it.
      if (this.#inFailure) this.#show(line);
      if (/^\s*\.\.\.$/.test(line)) this.#inFailure = false;
      return;
    }
    const skipped = /# SKIP/i.test(name);
    this.counts[skipped ? 'skipped' : not === undefined ? 'passed' : 'failed'] += 1;
    this.#inFailure = not !== undefined;
    if (this.#inFailure && indent === '') this.failedFiles.push(name.replace(/ # time=.*$/, ''));
    if (indent === '' || this.#inFailure || skipped) this.#show(line);
  }
}
