import { TroupeError } from '#troupe/protocol/errors.js';

const NO_TLS = 'the server does not speak TLS on this port; is it http:// and not https://?';
/** Explanations of network errors, with remedies. Keys are codes of Node, OpenSSL and its HTTP parser. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host; check the name',
  EAI_AGAIN: 'the name could not be resolved now; check the network',
  ECONNREFUSED: 'nothing is listening there; is the server running, and is the port right?',
  ECONNRESET: 'the server closed the connection before it had answered',
  EPIPE: 'the server closed the connection while the request was being sent',
  ETIMEDOUT: 'no connection in time; check the address and the network',
  EHOSTUNREACH: 'there is no route to that host; check the network',
  ENETUNREACH: 'there is no route to that network; check the network',
  EACCES: 'this machine does not allow the connection',
  CERT_HAS_EXPIRED:
    'the certificate has expired; renew it on the server, or turn certificate checks off for this request',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet; check the clocks of both machines',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'the certificate is self-signed; trust it (--ca, or a CA file in the settings), or turn certificate checks off for this request',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate comes from an authority that is not trusted here, often a proxy; name its file with --ca or in the settings',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the server does not send the certificates between its own and the authority; repair its chain, or name the file of the authority with --ca or in the settings',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the authority of the certificate is not trusted here; name its file with --ca or in the settings',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  // Some versions of OpenSSL take the first bytes of another protocol for a length.
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_DATA_LENGTH_TOO_LONG: NO_TLS,
  EPROTO: 'the server does not speak TLS on this port, or only unsafe versions; is it http:// and not https://?',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the server speaks only versions of TLS that are no longer safe',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'the server requires a client certificate; name one for this host with --cert or in the settings',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'the server refused the TLS connection; it may require a client certificate, or other versions of TLS',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the server does not trust the client certificate; use one of its own authority',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    'the server does not offer this version of HTTP; set the HTTP version of the request to automatic',
  ERR_HTTP2_HEADER_SINGLE_VALUE:
    'HTTP/2 takes a header only once that is there twice; remove one, or set the HTTP version of the request to 1.1',
  ERR_HTTP2_STREAM_ERROR: 'the server ended the request',
  ERR_INVALID_CHAR: 'a header contains a character that HTTP does not allow',
  ERR_INVALID_HTTP_TOKEN: 'the method or a header name contains a character that HTTP does not allow',
  ERR_UNESCAPED_CHARACTERS: 'the URL contains a space or a control character',
  HPE_INVALID_CONSTANT: 'the answer of the server is not HTTP; is it https:// and not http://?',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are larger than 256 KiB',
};

/**
 * A failure of sending or receiving as REQUEST_FAILED; `details.cause` is the code. A TroupeError is returned
 * unchanged.
 */
export function networkFault(error: unknown, url: string): TroupeError {
  if (error instanceof TroupeError) return error;
  const cause = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const explained =
    EXPLAINED[cause] ?? (cause.startsWith('HPE_') ? `the answer of the server is not HTTP (${message})` : message);
  return new TroupeError('REQUEST_FAILED', `${hostOf(url)}: ${explained}`, { cause, url });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  const code: unknown = Reflect.get(error, 'code');
  // Several addresses were tried; the first failure represents them.
  const errors: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(errors) && typeof code !== 'string') return codeOf(errors[0]);
  return typeof code === 'string' ? code : error.name;
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^/@?#]*@)?([^/?#]+)/i.exec(url)?.[1] ?? url;
}
