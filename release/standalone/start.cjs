/** The script inside the program of an archive. Only Node's own parts can be loaded from there, so it hands over to a file beside it. */
'use strict';
const { existsSync, realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');

// Package managers link to the program from elsewhere.
const folder = join(dirname(realpathSync(process.execPath)), 'lib');
if (existsSync(join(folder, 'launch.cjs'))) createRequire(join(folder, 'package.json'))('./launch.cjs');
else {
  process.stderr.write(
    `vloc cannot start: the folder ${folder} is missing. Unpack the whole archive again, and link to the program instead of moving it.\n`,
  );
  process.exitCode = 4;
}
