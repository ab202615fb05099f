import { HTTPSnippet } from '@readme/httpsnippet';

/** A request whose values are placeholders. */
export interface SkeletonRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly mediaType: string;
  /** Null for no body. */
  readonly body: string | null;
}

/** The code of a request in one language, as the library writes it. Bundled with that library. */
export function skeletonOf(
  { method, url, headers, mediaType, body }: SkeletonRequest,
  language: string,
  client: string,
): string {
  const snippet = new HTTPSnippet(
    {
      method,
      url,
      headers,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      queryString: [],
      ...(body === null ? {} : { postData: { mimeType: mediaType, text: body } }),
    },
    { harIsAlreadyEncoded: true },
  );
  const made = snippet.convert(language, client);
  return (typeof made === 'string' ? made : made === false ? '' : (made[0] ?? '')).trim();
}
