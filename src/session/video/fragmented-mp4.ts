// Fragmented mp4 (ISO/IEC 14496-12) with one video track, in milliseconds.

/** What a player must know before the first frame. */
export interface VideoTrack {
  /** A WebCodecs codec string: `avc1...` or `vp09...`. */
  readonly codec: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** The AVCDecoderConfigurationRecord of H.264; empty for VP9. */
  readonly description: Uint8Array;
}

/** An encoded frame and when it is shown, in milliseconds of the video. */
export interface VideoSample {
  readonly data: Uint8Array;
  readonly isKey: boolean;
  readonly startMs: number;
  readonly durationMs: number;
}

const TIMESCALE = 1_000;
const TRACK = 1;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const KEY_FLAGS = 0x02000000;
const DELTA_FLAGS = 0x01010000;
/** "und", packed. */
const LANGUAGE = 0x55c4;
const DPI_72 = 0x00480000;

/** The beginning of a file, which has no frames yet. */
export function fileHead(track: VideoTrack): Buffer {
  return Buffer.concat([
    box('ftyp', text('iso5'), u32(512), text('iso5iso6mp41')),
    box('moov', movieHeader(), trackBox(track), box('mvex', fullBox('trex', 0, 0, u32(TRACK, 1, 0, 0, 0)))),
  ]);
}

/**
 * One frame as a fragment of its own: a file that breaks off after any fragment can be played up to there.
 * @param number counts the fragments from 1
 */
export function fragment(number: number, { data, isKey, startMs, durationMs }: VideoSample): Buffer {
  const moof = (dataOffset: number) =>
    box(
      'moof',
      fullBox('mfhd', 0, 0, u32(number)),
      box(
        'traf',
        // Offsets count from the beginning of this box.
        fullBox('tfhd', 0, 0x020000, u32(TRACK)),
        fullBox('tfdt', 1, 0, u64(startMs)),
        fullBox('trun', 0, 0x000701, u32(1, dataOffset, durationMs, data.length, isKey ? KEY_FLAGS : DELTA_FLAGS)),
      ),
    );
  return Buffer.concat([moof(moof(0).length + 8), box('mdat', data)]);
}

function movieHeader(): Buffer {
  const [volume, nextTrack] = [u16(0x0100), u32(TRACK + 1)];
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, TIMESCALE, 0, 0x10000),
    volume,
    zeros(10),
    u32(...IDENTITY),
    zeros(24),
    nextTrack,
  );
}

function trackBox(track: VideoTrack): Buffer {
  const { width, height } = track;
  const size = u32(width * 0x10000, height * 0x10000);
  const isEnabledInMovie = 3;
  const empty = (type: string, fields: number) => fullBox(type, 0, 0, zeros(4 * fields));
  return box(
    'trak',
    fullBox('tkhd', 0, isEnabledInMovie, u32(0, 0, TRACK, 0, 0), zeros(16), u32(...IDENTITY), size),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, TIMESCALE, 0), u16(LANGUAGE, 0)),
      fullBox('hdlr', 0, 0, zeros(4), text('vide'), zeros(12), text('session\0')),
      box(
        'minf',
        fullBox('vmhd', 0, 1, zeros(8)),
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1))),
        box(
          'stbl',
          fullBox('stsd', 0, 0, u32(1), sampleEntry(track)),
          empty('stts', 1),
          empty('stsc', 1),
          empty('stsz', 2),
          empty('stco', 1),
        ),
      ),
    ),
  );
}

function sampleEntry({ codec, width, height, description }: VideoTrack): Buffer {
  const isH264 = codec.startsWith('avc1.');
  const config = isH264 ? box('avcC', description) : vp9Config(codec);
  const [framesPerSample, noColorTable] = [u16(1), u16(0xffff)];
  return box(
    isH264 ? 'avc1' : 'vp09',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    u32(DPI_72, DPI_72, 0),
    framesPerSample,
    zeros(32),
    u16(24),
    noColorTable,
    config,
  );
}

/** https://www.webmproject.org/vp9/mp4/; `vp09.PROFILE.LEVEL.DEPTH`, 4:2:0, colors unspecified. */
function vp9Config(codec: string): Buffer {
  const [, profile = '0', level = '40', depth = '8'] = codec.split('.');
  const [colocated, unspecified] = [1, 2];
  const layout = (Number(depth) << 4) | (colocated << 1);
  const colors = [unspecified, unspecified, unspecified];
  return fullBox('vpcC', 1, 0, Buffer.from([Number(profile), Number(level), layout, ...colors, 0, 0]));
}

function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const bytes = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(bytes), text(type), ...content], bytes);
}

function fullBox(type: string, version: number, flags: number, ...content: readonly Uint8Array[]): Buffer {
  return box(type, u32(version * 0x1000000 + flags), ...content);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function zeros(bytes: number): Buffer {
  return Buffer.alloc(bytes);
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}
