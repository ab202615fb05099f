import type { Methods } from './classes.js';

/** Matchers of `expect(locator)`, with their parameters. They wait until they hold or their timeout has passed. */
export const LOCATOR_MATCHERS = {
  toBeAttached: ['options?: Attached', 'void'],
  toBeChecked: ['options?: Checked', 'void'],
  toBeDisabled: ['options?: Timeout', 'void'],
  toBeEditable: ['options?: Editable', 'void'],
  toBeEmpty: ['options?: Timeout', 'void'],
  toBeEnabled: ['options?: Enabled', 'void'],
  toBeFocused: ['options?: Timeout', 'void'],
  toBeHidden: ['options?: Timeout', 'void'],
  toBeInViewport: ['options?: InViewport', 'void'],
  toBeVisible: ['options?: Visible', 'void'],
  toContainClass: ['expected: string | readonly string[], options?: Timeout', 'void'],
  toContainText: ['expected: Text | readonly Text[], options?: TextMatch', 'void'],
  toHaveAccessibleDescription: ['expected: Text, options?: AttributeMatch', 'void'],
  toHaveAccessibleErrorMessage: ['expected: Text, options?: AttributeMatch', 'void'],
  toHaveAccessibleName: ['expected: Text, options?: AttributeMatch', 'void'],
  toHaveAttribute: ['name: string, value?: Text, options?: AttributeMatch', 'void'],
  toHaveClass: ['expected: Text | readonly Text[], options?: Timeout', 'void'],
  toHaveCount: ['count: number, options?: Timeout', 'void'],
  toHaveCSS: ['name: string, value: Text, options?: Timeout', 'void'],
  toHaveId: ['id: Text, options?: Timeout', 'void'],
  toHaveJSProperty: ['name: string, value: any, options?: Timeout', 'void'],
  toHaveRole: ['role: string, options?: Timeout', 'void'],
  toHaveText: ['expected: Text | readonly Text[], options?: TextMatch', 'void'],
  toHaveValue: ['value: Text, options?: Timeout', 'void'],
  toHaveValues: ['values: readonly Text[], options?: Timeout', 'void'],
  toMatchAriaSnapshot: ['expected: string, options?: Timeout', 'void'],
} as const satisfies Methods;

export const PAGE_MATCHERS = {
  toHaveTitle: ['expected: Text, options?: Timeout', 'void'],
  toHaveURL: ['expected: Text, options?: AttributeMatch', 'void'],
  toMatchAriaSnapshot: ['expected: string, options?: Timeout', 'void'],
} as const satisfies Methods;

/** Matchers of any other value. */
export const VALUE_MATCHERS = {
  toBe: ['expected: unknown', 'void'],
  toBeCloseTo: ['expected: number, digits?: number', 'void'],
  toBeDefined: ['', 'void'],
  toBeFalsy: ['', 'void'],
  toBeGreaterThan: ['expected: number | bigint', 'void'],
  toBeGreaterThanOrEqual: ['expected: number | bigint', 'void'],
  toBeLessThan: ['expected: number | bigint', 'void'],
  toBeLessThanOrEqual: ['expected: number | bigint', 'void'],
  toBeNaN: ['', 'void'],
  toBeNull: ['', 'void'],
  toBeTruthy: ['', 'void'],
  toBeUndefined: ['', 'void'],
  toContain: ['expected: unknown', 'void'],
  toContainEqual: ['expected: unknown', 'void'],
  toEqual: ['expected: unknown', 'void'],
  toHaveLength: ['expected: number', 'void'],
  toHaveProperty: ['path: string | readonly string[], value?: unknown', 'void'],
  toMatch: ['expected: Text', 'void'],
  toMatchObject: ['expected: object', 'void'],
  toStrictEqual: ['expected: unknown', 'void'],
} as const satisfies Methods;

/** `expect.any(...)` takes one of these; the others of {@link ASYMMETRIC} take data. */
export const ANY_OF = ['Array', 'BigInt', 'Boolean', 'Date', 'Number', 'Object', 'RegExp', 'String'] as const;

export const ASYMMETRIC = [
  'any',
  'anything',
  'arrayContaining',
  'closeTo',
  'objectContaining',
  'stringContaining',
  'stringMatching',
] as const;

/** Matchers that are not offered, and what to use instead. */
export const NOT_MATCHERS: { readonly [name: string]: string } = {
  toHaveScreenshot: 'use agent.expectScreenshot(name)',
  toMatchSnapshot: 'use agent.expectLook(name) for the page, or match(actual, expected) for a value',
  toBeOK: 'use expect(response.ok()).toBe(true)',
  toBeInstanceOf: 'use expect.any(...) with toEqual',
  toThrow: 'use try and catch',
  toThrowError: 'use try and catch',
  toPass: 'use expect.poll(function)',
};
