import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';

declare module 'uWebSockets.js' {
  /** Exported by the binary, missing in the package's types. */
  const LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions;

  interface TemplatedApp {
    /** The complete signature, which the package's types leave out. */
    listen(
      host: string,
      port: number,
      options: ListenOptions,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}

/**
 * The bytes of a request head that uWebSockets.js keeps while it arrives in pieces. The default of 4 KiB rejects (431)
 * requests of browsers if other programs on the same host have set cookies. The variable is read when the binary loads.
 */
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(16 * 1024);

/**
 * The native HTTP server. Imported only when needed: a machine without a binary uses node:http.
 * @throws if the binary cannot be loaded
 */
export const uws: typeof Uws = createRequire(import.meta.url)('uWebSockets.js');
