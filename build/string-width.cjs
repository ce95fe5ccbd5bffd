/**
 * Stands for every `string-width` that a package asks for, in the bundle and in tests: cli-table3 brings one of 2019, in which Thai,
 * Devanagari and newer emoji have other widths. ASCII needs no tables of Unicode, whose loading takes a third of a bare start of Node.
 */
const ASCII = /^[\x20-\x7e]*$/;

module.exports = (text, options) =>
  ASCII.test(text) ? text.length : require('../node_modules/string-width/index.js').default(text, options);
