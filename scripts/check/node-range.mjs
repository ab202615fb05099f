/**
 * Whether a Node version (`20.19.4`) lies in a range as `engines` has it: comparators, `^`, `~`, x-ranges, hyphens and
 * `||` of https://github.com/npm/node-semver#ranges, without pre-releases. Null for a range that is not understood.
 */
export function isInRange(version, range) {
  const running = numbersOf(version);
  const answers = range.split('||').map((part) => isInPart(running, part.trim()));
  if (answers.includes(null)) return null;
  return answers.includes(true);
}

function isInPart(running, part) {
  const hyphen = /^(\S+)\s+-\s+(\S+)$/.exec(part);
  const text = hyphen ? `>=${hyphen[1]} <=${hyphen[2]}` : part.replace(/([<>=^~]+)\s+/g, '$1');
  const answers = text
    .split(/\s+/)
    .filter(Boolean)
    .map((comparator) => holds(running, comparator));
  return answers.includes(null) ? null : answers.every(Boolean);
}

function holds(running, comparator) {
  const parts = /^(>=|<=|>|<|=|\^|~>?)?v?(x|X|\*|\d+)(?:\.(x|X|\*|\d+))?(?:\.(x|X|\*|\d+))?$/.exec(comparator);
  if (parts === null) return null;
  const [, operator = '=', ...given] = parts;
  const known = given.map((part) => (part === undefined || /[xX*]/.test(part) ? null : Number(part)));
  // How many of the three numbers are said; `18` and `18.x` mean all of 18, from the first to before 19.0.0.
  const count = known.includes(null) ? known.indexOf(null) : 3;
  if (count === 0) return operator !== '<' && operator !== '>';
  const first = known.map((part) => part ?? 0);
  const next = raise(first, count - 1);
  switch (operator) {
    case '>=':
      return compare(running, first) >= 0;
    case '<':
      return compare(running, first) < 0;
    case '>':
      return compare(running, count === 3 ? first : next) >= (count === 3 ? 1 : 0);
    case '<=':
      return count === 3 ? compare(running, first) <= 0 : compare(running, next) < 0;
    case '^':
      return isBetween(running, first, raise(first, Math.min(leadingZeros(first), count - 1)));
    case '=':
      return isBetween(running, first, next);
    default:
      return isBetween(running, first, raise(first, Math.min(1, count - 1)));
  }
}

function leadingZeros(numbers) {
  const index = numbers.findIndex((number) => number !== 0);
  return index === -1 ? 2 : index;
}

/** The first version after all that begin with the numbers up to `index`. */
function raise(numbers, index) {
  return numbers.map((number, at) => (at < index ? number : at === index ? number + 1 : 0));
}

function isBetween(running, first, next) {
  return compare(running, first) >= 0 && compare(running, next) < 0;
}

function compare(left, right) {
  const at = left.findIndex((number, index) => number !== right[index]);
  return at === -1 ? 0 : left[at] - right[at];
}

function numbersOf(version) {
  return version.replace(/^v/, '').split('.').slice(0, 3).map(Number);
}
