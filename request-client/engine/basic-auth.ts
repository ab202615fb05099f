/** The value of a Basic Authorization header: RFC 7617, in UTF-8. */
export function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
