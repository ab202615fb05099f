/** The cookies of a run, as scripts see and change them. Cookies are in Postman's form. */
export interface CookieAccess {
  /** Those that a request to the URL would carry. */
  all(url: string): Promise<readonly object[]>;
  /** @param cookie an object with `name` and `value`, or the text of a Set-Cookie header @returns the cookie as it is kept */
  set(url: string, cookie: unknown): Promise<object>;
  remove(url: string, name: string): Promise<void>;
  /** Removes all that a request to the URL would carry. */
  clear(url: string): Promise<void>;
}
