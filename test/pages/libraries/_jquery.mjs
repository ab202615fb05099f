// Older plugins expect jQuery to be a global.
import $ from 'jquery';
globalThis.$ = globalThis.jQuery = $;
