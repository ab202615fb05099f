/**
 * How the import handles an option. `own`: it is imported, see collect-operations. `terminal`: it concerns what is
 * shown, saved or timed on the terminal. `transport`: it changes how the request is transmitted; the client has no such
 * setting.
 */
export type OptionRole = 'own' | 'terminal' | 'transport';

/** One row of curl's option table. */
export interface CurlOption {
  readonly name: string;
  /** The letter of its short form. */
  readonly letter: string | null;
  /** It takes a value; otherwise it is a switch. */
  readonly takesValue: boolean;
  readonly role: OptionRole;
}

/**
 * The options of curl 7.88, and those of later releases. A row: name, letter or `.`; `=` if it takes a value. Names of
 * switches are without their `no-`.
 */
const OWN = `
  cookie b= data d= data-ascii .= data-binary .= data-raw .= data-urlencode .= disable q form F= form-string .= get G
  globoff g head I header H= insecure k json .= location L location-trusted . next : oauth2-bearer .= path-as-is .
  range r= referer e= request X= time-cond z= upload-file T= url .= url-query .= user u= user-agent A= compressed .
  variable .= anyauth . basic . digest . negotiate . ntlm . ntlm-wb . request-target .=
  http1.1 . http2 . http2-prior-knowledge .`;

const TERMINAL = `
  buffer N clobber . cookie-jar c= create-dirs . create-file-mode .= dump-header D= etag-save .= fail f fail-early .
  fail-with-body . help h include i libcurl .= manual M max-filesize .= output o= output-dir .= out-null . parallel Z
  parallel-immediate . parallel-max .= parallel-max-host .= progress-bar # progress-meter . rate .= remote-header-name J
  remote-name O remote-name-all . remote-time R remove-on-error . show-error S show-headers . silent s skip-existing .
  stderr .= styled-output . suppress-connect-headers . trace .= trace-ascii .= trace-config .= trace-ids . trace-time .
  verbose v version V write-out w= xattr . retry .= retry-all-errors . retry-connrefused . retry-delay .=
  retry-max-time .= connect-timeout .= max-time m= speed-limit Y= speed-time y= limit-rate .= keepalive .
  keepalive-time .= keepalive-cnt .= tcp-nodelay . tcp-fastopen . sessionid . expect100-timeout .= mptcp .
  happy-eyeballs-timeout-ms .= metalink . disallow-username-in-url .`;

const TRANSPORT = `
  abstract-unix-socket .= alpn . alt-svc .= append a aws-sigv4 .= ca-native . cacert .= capath .= cert E= cert-status .
  cert-type .= ciphers .= compressed-ssh . config K= connect-to .= continue-at C= crlf . crlfile .= curves .=
  delegation .= disable-eprt . disable-epsv . dns-interface .= dns-ipv4-addr .= dns-ipv6-addr .= dns-servers .=
  doh-cert-status . doh-insecure . doh-url .= dump-ca-embed . ech .= egd-file .= engine .= eprt . epsv . etag-compare .=
  false-start . follow . form-escape . ftp-account .= ftp-alternative-to-user .= ftp-create-dirs . ftp-method .= ftp-pasv .
  ftp-port P= ftp-pret . ftp-skip-pasv-ip . ftp-ssl . ftp-ssl-ccc . ftp-ssl-ccc-mode .= ftp-ssl-control .
  ftp-ssl-reqd . haproxy-clientip .= haproxy-protocol . hostpubmd5 .= hostpubsha256 .= hsts .= http0.9 . http1.0 0
 http3 . http3-only . ignore-content-length . interface .= ip-tos .= ipfs-gateway .=
  ipv4 4 ipv6 6 junk-session-cookies j key .= key-type .= knownhosts .= krb .= krb4 .= list-only l local-port .=
  login-options .= mail-auth .= mail-from .= mail-rcpt .= mail-rcpt-allowfails . max-redirs .= netrc n netrc-file .=
  netrc-optional . noproxy .= npn . pass .= pinnedpubkey .= post301 . post302 . post303 . preproxy .= proto .=
  proto-default .= proto-redir .= proxy x= proxy-anyauth . proxy-basic . proxy-ca-native . proxy-cacert .=
  proxy-capath .= proxy-cert .= proxy-cert-type .= proxy-ciphers .= proxy-crlfile .= proxy-digest . proxy-header .=
  proxy-http2 . proxy-http3 . proxy-insecure . proxy-key .= proxy-key-type .= proxy-negotiate . proxy-ntlm .
  proxy-pass .= proxy-pinnedpubkey .= proxy-service-name .= proxy-ssl-allow-beast . proxy-ssl-auto-client-cert .
  proxy-tls13-ciphers .= proxy-tlsauthtype .= proxy-tlspassword .= proxy-tlsuser .= proxy-tlsv1 . proxy-user U=
  proxy1.0 .= proxytunnel p pubkey .= quote Q= random-file .= raw . resolve .= sasl-authzid .= sasl-ir .
  service-name .= sigalgs .= socks4 .= socks4a .= socks5 .= socks5-basic . socks5-gssapi . socks5-gssapi-nec .
  socks5-gssapi-service .= socks5-hostname .= ssl . ssl-allow-beast . ssl-auto-client-cert . ssl-no-revoke .
  ssl-reqd . ssl-revoke-best-effort . sslv2 2 sslv3 3 telnet-option t= tftp-blksize .= tftp-no-options .
  tls-earlydata . tls-max .= tls13-ciphers .= tlsauthtype .= tlspassword .= tlsuser .= tlsv1 1 tlsv1.0 . tlsv1.1 .
  tlsv1.2 . tlsv1.3 . tr-encoding . unix-socket .= upload-flags .= use-ascii B vlan-priority .=`;

/** Where the client keeps what a command gives for one request: in settings of its own, never in a collection. */
const CLIENT_SETTINGS: readonly (readonly [names: RegExp, advice: string])[] = [
  [
    /^(?:proxy|proxy-user|proxy1\.0|preproxy|proxytunnel|noproxy|socks\w*)$/,
    'a proxy belongs to the settings of the request client; set it there, or start with --proxy',
  ],
  [
    /^(?:cert|cert-type|key|key-type|pass|cacert)$/,
    'certificates belong to the settings of the request client; add them there for the host',
  ],
];

/** Why an option that concerns the transport is not taken from a command. */
export function reasonLeftOut(name: string): string {
  return CLIENT_SETTINGS.find(([names]) => names.test(name))?.[1] ?? 'the request client has no such setting';
}

/** Whether the value of an option has a password, which no warning repeats. */
export function hasPassword(name: string, value: string): boolean {
  return (
    /^(?:proxy-)?(?:pass|user|tlspassword)$/.test(name) ||
    (name === 'cert' && /:/.test(value)) ||
    /^[^/]*\/\/[^/@]*:[^/@]*@/.test(value)
  );
}

function rows(text: string, role: OptionRole): CurlOption[] {
  return [...text.matchAll(/(\S+) (\S)(=?)(?=\s|$)/g)].map(([, name = '', letter, value]) => ({
    name,
    letter: letter === undefined || letter === '.' ? null : letter,
    takesValue: value === '=',
    role,
  }));
}

const OPTIONS: readonly CurlOption[] = [
  ...rows(OWN, 'own'),
  ...rows(TERMINAL, 'terminal'),
  ...rows(TRANSPORT, 'transport'),
];
const BY_NAME = new Map(OPTIONS.map((option) => [option.name, option]));
const BY_LETTER = new Map(OPTIONS.flatMap((option) => (option.letter === null ? [] : [[option.letter, option]])));

export function optionOfLetter(letter: string): CurlOption | undefined {
  return BY_LETTER.get(letter);
}

/** The option for a long name, in any case, complete or abbreviated unambiguously; and whether `no-` preceded it. */
export function optionOfName(written: string): { readonly option: CurlOption; readonly on: boolean } | undefined {
  const name = written.toLowerCase();
  const negated = name.startsWith('no-') && !BY_NAME.has(name);
  const option = lookUp(negated ? name.slice(3) : name);
  // curl rejects `no-` before an option with a value.
  if (option === undefined || (negated && option.takesValue)) return undefined;
  return { option, on: !negated };
}

function lookUp(name: string): CurlOption | undefined {
  const whole = BY_NAME.get(name);
  if (whole !== undefined || name === '') return whole;
  const beginnings = OPTIONS.filter((option) => option.name.startsWith(name));
  return beginnings.length === 1 ? beginnings[0] : undefined;
}
