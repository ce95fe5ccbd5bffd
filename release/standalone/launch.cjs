/** Runs what the program of an archive was called for: vloc, or one of vloc's own scripts in a process of its own. */
'use strict';
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');

// In such a program, Node puts the path of the program where the path of the script would be.
const [program, , ...args] = process.argv;
const [script = ''] = args;
if (dirname(script) === join(__dirname, 'dist')) {
  process.argv = [program, ...args];
  import(pathToFileURL(script).href);
} else {
  process.argv = [program, join(__dirname, 'bin/vloc.js'), ...args];
  require('./bin/vloc.js');
}
