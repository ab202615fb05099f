/** Whether an argument is JSON; shell variables count as values. */
export function isJson(bytes: string): boolean {
  try {
    JSON.parse(bytes.replace(/\0[^\0]*\0/g, '0'));
    return true;
  } catch {
    return false;
  }
}
