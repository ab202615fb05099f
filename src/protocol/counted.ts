/** A number with its noun: `1 step`, `2 steps`, `1,204 steps`. @param noun in the singular; its plural ends with `s` */
export function counted(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}
