import type { ActorKind } from '../../actors/actor.js';
import type { DevToolsAddress } from '../../containers/driver.js';

/** The browser that encodes; used by this actor only. */
export interface VideoEncoderArgs {
  readonly devTools: DevToolsAddress;
}

/** A picture of a page, and when it was taken. */
export interface VideoPicture {
  /** A JPEG. */
  readonly image: Uint8Array;
  /** Milliseconds of the video. */
  readonly atMs: number;
}

/** Replies are the next bytes of the video's file. Messages about one recording are sent one after another. */
export type VideoEncoderMessages = {
  /** Connects to the browser. Sent once, before all others. WORKER_LOST. */
  Open: { readonly payload: { readonly timeoutMs: number }; readonly reply: null };
  /** Replies with the recording's number. UNAVAILABLE if the browser cannot encode. */
  Begin: { readonly payload: null; readonly reply: number };
  /** UNAVAILABLE if the recording has ended or the picture cannot be encoded. */
  Encode: { readonly payload: VideoPicture & { readonly recording: number }; readonly reply: Uint8Array };
  /** The last picture is shown until now at least. */
  Hold: { readonly payload: { readonly recording: number; readonly atMs: number }; readonly reply: Uint8Array };
  /** Ends a recording; the last picture is shown until now. */
  End: { readonly payload: { readonly recording: number; readonly atMs: number }; readonly reply: Uint8Array };
  /** Drops a recording. */
  Abandon: { readonly payload: { readonly recording: number }; readonly reply: null };
};

/** Encodes videos in a browser of its own. It crashes with WORKER_LOST if that browser is gone. */
export const VideoEncoderActor: ActorKind<VideoEncoderMessages, VideoEncoderArgs, never> = { name: 'video-encoder' };
