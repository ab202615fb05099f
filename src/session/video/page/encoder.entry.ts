/** An encoded frame, as the service gets it. */
interface Encoded {
  /** Base64. */
  readonly data: string;
  readonly isKey: boolean;
  /** Only with the first frame. */
  readonly track?: {
    readonly codec: string;
    readonly width: number;
    readonly height: number;
    readonly description: string;
  };
}

/** A frame as the encoder gives it. */
interface Made {
  readonly chunk: EncodedVideoChunk;
  readonly config: VideoDecoderConfig | undefined;
}

/** The first that the browser has: H.264 is played everywhere, and not every Chromium has it. */
const CODECS = ['avc1.42E028', 'vp09.00.40.08'];
const BITS_PER_PIXEL_SECOND = 1.8;
const FRAMES_PER_SECOND = 10;

/** Runs in a page of its own for each video. All calls come one after another. */
export function install(): Encoder {
  return new Encoder();
}

class Encoder {
  #encoder: VideoEncoder | null = null;
  #canvas: OffscreenCanvas | null = null;
  #last: VideoFrame | null = null;
  #failed: Error | null = null;
  readonly #made: Made[] = [];

  /**
   * @param image Base64 of a JPEG
   * @param startMs when the picture is shown, in milliseconds of the video
   */
  async encode(image: string, startMs: number, isKey: boolean): Promise<Encoded> {
    const bitmap = await createImageBitmap(new Blob([bytesOf(image)]));
    try {
      this.#encoder ??= await this.#configured(bitmap);
      const frame = this.#frameOf(bitmap, startMs * 1_000);
      this.#last?.close();
      this.#last = frame;
    } finally {
      bitmap.close();
    }
    return this.#encodeLast(isKey);
  }

  /** The last picture again. */
  async repeat(startMs: number): Promise<Encoded> {
    if (this.#last === null) throw new Error('There is no picture to repeat');
    const frame = new VideoFrame(this.#last, { timestamp: startMs * 1_000 });
    this.#last.close();
    this.#last = frame;
    return this.#encodeLast(false);
  }

  async #encodeLast(isKey: boolean): Promise<Encoded> {
    // A key frame is never dropped.
    const made = (await this.#output(isKey)) ?? (await this.#output(true));
    if (made === null) throw this.#failed ?? new Error('The encoder dropped a frame');
    const { chunk, config } = made;
    const data = new Uint8Array(chunk.byteLength);
    chunk.copyTo(data);
    const encoded = { data: base64Of(data), isKey: chunk.type === 'key' };
    if (config === undefined || this.#canvas === null) return encoded;
    const { codec, description } = config;
    const { width, height } = this.#canvas;
    const described = description === undefined ? new Uint8Array() : viewOf(description);
    return { ...encoded, track: { codec, width, height, description: base64Of(described) } };
  }

  async #output(keyFrame: boolean): Promise<Made | null> {
    if (this.#encoder === null || this.#last === null) return null;
    this.#made.length = 0;
    this.#encoder.encode(this.#last, { keyFrame });
    await this.#encoder.flush();
    return this.#made.at(-1) ?? null;
  }

  /** The first picture decides about the size of all; sizes of H.264 are even. */
  async #configured({ width: ownWidth, height: ownHeight }: ImageBitmap): Promise<VideoEncoder> {
    const width = Math.max(2, ownWidth - (ownWidth % 2));
    const height = Math.max(2, ownHeight - (ownHeight % 2));
    this.#canvas = new OffscreenCanvas(width, height);
    for (const codec of CODECS) {
      const config: VideoEncoderConfig = {
        codec,
        width,
        height,
        bitrate: Math.round(width * height * BITS_PER_PIXEL_SECOND),
        framerate: FRAMES_PER_SECOND,
        latencyMode: 'realtime',
        hardwareAcceleration: 'prefer-software',
        ...(codec.startsWith('avc1') ? { avc: { format: 'avc' as const } } : {}),
      };
      const { supported } = await VideoEncoder.isConfigSupported(config);
      if (supported !== true) continue;
      const encoder = new VideoEncoder({
        output: (chunk, metadata) => {
          this.#made.push({ chunk, config: metadata?.decoderConfig ?? undefined });
        },
        error: (error) => {
          this.#failed = error;
        },
      });
      encoder.configure(config);
      return encoder;
    }
    throw new Error(`This browser encodes none of ${CODECS.join(', ')}`);
  }

  #frameOf(bitmap: ImageBitmap, timestamp: number): VideoFrame {
    const canvas = this.#canvas;
    const context = canvas?.getContext('2d', { alpha: false }) ?? null;
    if (canvas === null || context === null) throw new Error('There is no canvas');
    const { width, height } = canvas;
    const scale = Math.min(width / bitmap.width, height / bitmap.height);
    // One pixel at the edge is cut off where a size is odd.
    const fits = bitmap.width - width <= 1 && bitmap.height - height <= 1 && scale <= 1 && scale > 0.9;
    const [shownWidth, shownHeight] = fits
      ? [bitmap.width, bitmap.height]
      : [Math.round(bitmap.width * scale), Math.round(bitmap.height * scale)];
    context.fillRect(0, 0, width, height);
    context.drawImage(bitmap, 0, 0, shownWidth, shownHeight);
    return new VideoFrame(canvas, { timestamp });
  }
}

function viewOf(data: AllowSharedBufferSource): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

const PART = 8_192;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return btoa(text);
}
