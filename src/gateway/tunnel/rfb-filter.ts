import { TroupeError } from '../../protocol/errors.js';

/** The longest message that is accepted: a clipboard text of 1 MiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024 + 8;
const VERSION_BYTES = 12;

/** Types of client messages: RFC 6143, section 7.5, and rfbproto, the community's protocol document, for the others. */
const TYPE = {
  SetPixelFormat: 0,
  SetEncodings: 2,
  FramebufferUpdateRequest: 3,
  KeyEvent: 4,
  PointerEvent: 5,
  ClientCutText: 6,
  EnableContinuousUpdates: 150,
  ClientFence: 248,
  Xvp: 250,
  SetDesktopSize: 251,
  Qemu: 255,
} as const;

/** With this encoding a PointerEvent may have a seventh byte, which only the server's answer would reveal. */
const EXTENDED_MOUSE_BUTTONS = -316;
/** Actions of an extended ClientCutText that write to the clipboard: notify and provide. */
const CLIPBOARD_WRITES = (1 << 27) | (1 << 28);

/** What happens to a message: `act` needs control, and `drop` changes the desktop itself, which no client may do. */
type Verdict = 'pass' | 'act' | 'drop';

/**
 * Filters the messages of an RFB client: what it may not do is removed. It parses RFB 3.7 and 3.8, in chunks of any
 * size.
 *
 *     version --> security --> init --> messages
 */
export class RfbFilter {
  #phase: 'version' | 'security' | 'init' | 'messages' = 'version';
  #rest: Buffer = Buffer.alloc(0);

  /**
   * @param mayAct called for each key, pointer and clipboard message
   * @returns the bytes to forward to the desktop
   * @throws INVALID_REQUEST for data that is not RFB, or a message longer than 1 MiB
   */
  push(chunk: Buffer, mayAct: () => boolean): Buffer {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const passed: Buffer[] = [];
    for (let length = this.#lengthOf(rest); length !== null && length <= rest.length; length = this.#lengthOf(rest)) {
      const message = this.#pass(rest.subarray(0, length), mayAct);
      if (message !== null) passed.push(message);
      rest = rest.subarray(length);
    }
    // Copied, because the rest must not keep the whole chunk in memory.
    this.#rest = Buffer.from(rest);
    return Buffer.concat(passed);
  }

  /** Null until enough of the message has arrived. */
  #lengthOf(bytes: Buffer): number | null {
    switch (this.#phase) {
      case 'version':
        return VERSION_BYTES;
      case 'security':
      case 'init':
        return 1;
      case 'messages': {
        const length = messageLength(bytes);
        if (length !== null && length > MAX_MESSAGE_BYTES) throw notRfb('a message is longer than 1 MiB');
        return length;
      }
    }
  }

  #pass(message: Buffer, mayAct: () => boolean): Buffer | null {
    switch (this.#phase) {
      case 'version':
        // RFB 3.3 has another handshake and is obsolete.
        if (!/^RFB 003\.00[78]\n$/.test(message.toString('latin1'))) throw notRfb('the version is not 3.7 or 3.8');
        this.#phase = 'security';
        return message;
      case 'security':
        this.#phase = 'init';
        return message;
      case 'init':
        this.#phase = 'messages';
        // Shared: an exclusive client would disconnect all others.
        return Buffer.of(1);
      case 'messages': {
        const verdict = verdictOn(message);
        if (verdict === 'drop' || (verdict === 'act' && !mayAct())) return null;
        return message[0] === TYPE.SetEncodings ? knownEncodings(message) : message;
      }
    }
  }
}

function messageLength(bytes: Buffer): number | null {
  const needs = (count: number, length: () => number) => (bytes.length < count ? null : length());
  switch (bytes[0]) {
    case undefined:
      return null;
    case TYPE.SetPixelFormat:
      return 20;
    case TYPE.SetEncodings:
      return needs(4, () => 4 + 4 * bytes.readUInt16BE(2));
    case TYPE.FramebufferUpdateRequest:
    case TYPE.EnableContinuousUpdates:
      return 10;
    case TYPE.KeyEvent:
      return 8;
    case TYPE.PointerEvent:
      return 6;
    case TYPE.ClientCutText:
      // A negative length marks the extended form.
      return needs(8, () => 8 + Math.abs(bytes.readInt32BE(4)));
    case TYPE.ClientFence:
      return needs(9, () => 9 + bytes.readUInt8(8));
    case TYPE.Xvp:
      return 4;
    case TYPE.SetDesktopSize:
      return needs(8, () => 8 + 16 * bytes.readUInt8(6));
    case TYPE.Qemu:
      return needs(2, () => {
        if (bytes[1] !== 0) throw notRfb(`a message of type 255 and ${bytes[1]}`);
        return 12;
      });
    default:
      throw notRfb(`a message of type ${bytes[0]}`);
  }
}

function verdictOn(message: Buffer): Verdict {
  switch (message[0]) {
    case TYPE.KeyEvent:
    case TYPE.PointerEvent:
    case TYPE.Qemu:
      return 'act';
    case TYPE.ClientCutText: {
      const isExtended = message.readInt32BE(4) < 0;
      // Without flags it has no meaning.
      if (isExtended && message.length < 12) return 'drop';
      return isExtended && (message.readUInt32BE(8) & CLIPBOARD_WRITES) === 0 ? 'pass' : 'act';
    }
    case TYPE.Xvp:
    case TYPE.SetDesktopSize:
      return 'drop';
    default:
      return 'pass';
  }
}

function knownEncodings(message: Buffer): Buffer {
  const encodings: Buffer[] = [];
  for (let at = 4; at < message.length; at += 4) {
    if (message.readInt32BE(at) !== EXTENDED_MOUSE_BUTTONS) encodings.push(message.subarray(at, at + 4));
  }
  const head = Buffer.from(message.subarray(0, 4));
  head.writeUInt16BE(encodings.length, 2);
  return Buffer.concat([head, ...encodings]);
}

function notRfb(what: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', `The client does not send valid RFB: ${what}`);
}
