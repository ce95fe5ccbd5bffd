// Old syntax, as in vloc.js.
'use strict';

/**
 * undici 8 needs 22.19, the first 22 that has both node:sqlite and type stripping without a flag. The node:sqlite of all 23 waits for no
 * lock and does not say whether a transaction is open.
 */
const RANGE = require('../package.json').engines.node;

/** Whether vloc runs on a Node of this version, such as `24.21.0`. */
exports.isSupported = (version) => {
  const [major, minor] = version.split('.').map(Number);
  return RANGE.split(' || ').some((part) => {
    const [, sign, first, second] = /^(\^|>=)(\d+)\.(\d+)$/.exec(part);
    return major === Number(first) ? minor >= Number(second) : sign === '>=' && major > Number(first);
  });
};

/** Completes "vloc needs Node ": `22.19 or a newer 22, or 24.0 or newer`. */
exports.describeNeeded = () =>
  RANGE.replace(/\^((\d+)\.\d+)/g, '$1 or a newer $2')
    .replace(/>=([\d.]+)/g, '$1 or newer')
    .replace(/ \|\| /g, ', or ');
