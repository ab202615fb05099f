/** A place in a viewport, in CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}
