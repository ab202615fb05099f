import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { isFileName } from '../../protocol/file-name.js';
import { isRecord, type Params, quoted } from './devtools-command.js';

/** Where the files of a session lie, as its browser sees them, and how the session is called. */
export interface SessionPlaces {
  readonly id: string;
  readonly downloadsDir: string;
  readonly uploadsDir: string;
}

/** The parameters that go on, or, as the end of a sentence, why the command does not. */
export type Checked = { readonly params: Params } | { readonly refusal: string };

type Check = (params: Params, places: SessionPlaces) => Checked;

/** Commands whose parameters reach further than the pages of a session. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['Browser.setDownloadBehavior', ownDownloads],
  ['DOM.setFileInputFiles', fileInput],
  ['Fetch.continueRequest', addressOf(['http:', 'https:', 'ws:', 'wss:'], 'optional')],
  ['Input.dispatchDragEvent', drag],
  ['Network.continueInterceptedRequest', addressOf(['http:', 'https:', 'ws:', 'wss:'], 'optional')],
  ['Network.loadNetworkResource', addressOf(['http:', 'https:'], 'required')],
  ['Page.navigate', addressOf(['http:', 'https:', 'about:', 'blob:', 'data:'], 'required')],
  // The page's own context is meant, so it stays this command. Chromium takes the behaviours of both commands for both.
  ['Page.setDownloadBehavior', (_params, places) => ({ params: namedDownloads(places) })],
  ['Target.attachToTarget', flat],
  ['Target.createBrowserContext', ownProxy],
  ['Target.createTarget', newTarget],
  ['Target.setAutoAttach', flat],
  ['Tracing.start', tracing],
]);

/** Looks at what a command names outside of the pages, and puts the session's own in its place where it has to be so. */
export function checkParams(method: string, params: Params, places: SessionPlaces): Checked {
  return CHECKS.get(method)?.(params, places) ?? { params };
}

/** The session's files are listed and kept from its own folder; under names of their own none replaces another. */
function namedDownloads({ downloadsDir }: SessionPlaces): Params {
  return { behavior: 'allowAndName', downloadPath: downloadsDir };
}

function ownDownloads({ browserContextId, eventsEnabled }: Params, places: SessionPlaces): Checked {
  return { params: { ...namedDownloads(places), browserContextId, eventsEnabled } };
}

/** Without it commands would come inside of others, as text. */
function flat(params: Params): Checked {
  if (params.flatten === true) return { params };
  return { refusal: 'it needs "flatten": true; commands then name their target with "sessionId"' };
}

/** The way out of the browser is the session's, which closes addresses to pages. */
function ownProxy({ proxyServer: _server, proxyBypassList: _bypass, ...params }: Params): Checked {
  return { params };
}

function newTarget(params: Params, places: SessionPlaces): Checked {
  // To Chromium an empty one is a page without a document.
  return params.url === '' ? { params } : openPage(params, places);
}

const openPage = addressOf(['http:', 'https:', 'about:', 'blob:', 'data:'], 'required');

function tracing(params: Params): Checked {
  // A message of Perfetto in base64, which can name files to write.
  if (params.perfettoConfig !== undefined) return { refusal: '"perfettoConfig" is not taken; use "traceConfig"' };
  const { tracingBackend: backend } = params;
  if (backend === undefined || backend === 'auto' || backend === 'chrome') return { params };
  return { refusal: '"tracingBackend" must be "chrome": that of the system sees the whole machine' };
}

/** Checks the parameter `url`, and passes on what was checked rather than what was written. */
function addressOf(schemes: readonly string[], need: 'required' | 'optional'): Check {
  return ({ url, ...rest }) => {
    if (url === undefined && need === 'optional') return { params: rest };
    if (typeof url !== 'string') return { refusal: '"url" must be a string' };
    const checked = checkedAddress(url, schemes);
    if (checked !== null) return { params: { ...rest, url: checked } };
    const names = schemes.map((scheme) => (scheme === 'about:' ? 'about:blank' : scheme)).join(', ');
    return { refusal: `it cannot open ${quoted(url)}; give a whole URL with one of ${names}` };
  };
}

/** The URL as every parser reads it, or null for one of another scheme, and for none. */
function checkedAddress(text: string, schemes: readonly string[]): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, pathname, href } = new URL(text);
  if (!schemes.includes(protocol)) return null;
  // Others are pages of the browser itself: about:version is chrome://version.
  if (protocol === 'about:' && pathname !== 'blank' && pathname !== 'srcdoc') return null;
  if (protocol === 'blob:' && !/^(?:https?:|null\/)/.test(pathname)) return null;
  // Chromium keeps the line breaks and tabs of what such a URL contains; the URL class drops them.
  return protocol === 'data:' && /^data:/i.test(text) ? text : href;
}

function fileInput({ files, ...params }: Params, places: SessionPlaces): Checked {
  const own = ownFiles(files, places);
  return 'refusal' in own ? own : { params: { ...params, files: own.files } };
}

/** Files, and links to files, open where no page takes them. */
function drag({ data, ...params }: Params, places: SessionPlaces): Checked {
  if (!isRecord(data)) return { refusal: '"data" must be an object' };
  const { items = [], files, ...rest } = data;
  if (!Array.isArray(items)) return { refusal: '"data.items" must be an array' };
  for (const item of items) {
    if (!isRecord(item) || typeof item.mimeType !== 'string' || typeof item.data !== 'string') {
      return { refusal: 'each of "data.items" must have the strings "mimeType" and "data"' };
    }
    const refused = /^\s*text\/uri-list/i.test(item.mimeType) ? foreignLink(item.data) : undefined;
    if (refused !== undefined) {
      return { refusal: `it cannot drop ${quoted(refused)}; give whole URLs with one of http:, https:, blob:, data:` };
    }
  }
  if (files === undefined) return { params: { ...params, data: { ...rest, items } } };
  const own = ownFiles(files, places);
  return 'refusal' in own ? own : { params: { ...params, data: { ...rest, items, files: own.files } } };
}

/** The first link of a list (RFC 2483, section 5) that leads elsewhere than into the network or the page. */
function foreignLink(list: string): string | undefined {
  const links = list.split(/[\r\n]+/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return links.find((link) => checkedAddress(link, ['http:', 'https:', 'about:', 'blob:', 'data:']) === null);
}

/** Paths directly in the session's uploads folder; a name alone means the file of that name there. */
function ownFiles(
  files: unknown,
  { id, uploadsDir }: SessionPlaces,
): { readonly files: readonly string[] } | { readonly refusal: string } {
  if (!Array.isArray(files)) return { refusal: '"files" must be an array of paths' };
  const dir = normalize(uploadsDir);
  const own: string[] = [];
  for (const file of files) {
    if (typeof file !== 'string') return { refusal: '"files" must be an array of paths' };
    const path = isAbsolute(file) ? normalize(file) : join(dir, file);
    const name = basename(path);
    if (dirname(path) !== dir || !isFileName(name)) {
      const how = `PUT the file to /api/sessions/${id}/files/NAME first and give the path ${join(dir, 'NAME')}`;
      return { refusal: `${quoted(file)} is no upload of the session; ${how}` };
    }
    own.push(join(dir, name));
  }
  return { files: own };
}
