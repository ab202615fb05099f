/** The part of noVNC that is used here; see its docs/API.md. */
declare module '@novnc/novnc' {
  interface RfbEvents {
    connect: CustomEvent<void>;
    disconnect: CustomEvent<{ readonly clean: boolean }>;
    clipboard: CustomEvent<{ readonly text: string }>;
  }

  export default class RFB {
    constructor(target: HTMLElement, channel: WebSocket);
    viewOnly: boolean;
    scaleViewport: boolean;
    clipViewport: boolean;
    focusOnClick: boolean;
    background: string;
    disconnect(): void;
    focus(): void;
    clipboardPasteFrom(text: string): void;
    addEventListener<K extends keyof RfbEvents>(type: K, listener: (event: RfbEvents[K]) => void): void;
  }
}
