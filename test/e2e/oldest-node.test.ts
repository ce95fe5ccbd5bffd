/** The main job with the packed tool, on the oldest Node that package.json allows. `.github/workflows/ci.yml` has newer ones. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { ffmpeg } from '../engines/workspace.ts';
import { probeStreams } from '../support/media.ts';
import { QUIET } from './install.ts';
import { type Installation, openInstallation, SAMPLE } from './packed.ts';

const MINUTES = 60_000;
const VERSION = `${/\d+\.\d+/.exec(packageFile.engines.node)?.[0]}.0`;

let vloc: Installation;
/** The folder of its `node`. */
let folder: string;

beforeAll(async () => {
  vloc = await openInstallation();
  ffmpeg('-i', SAMPLE, '-t', '4', '-c', 'copy', join(vloc.folder, 'short.mp4'));
  const home = join(vloc.folder, 'old node');
  mkdirSync(home);
  // Without a script of its own, which fetches the program for this system, the package is empty.
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  await promisify(execFile)('npm', ['install', `node@${VERSION}`, ...QUIET], { cwd: home });
  folder = join(home, 'node_modules/node/bin');
}, 5 * MINUTES);
afterAll(() => vloc.remove());

it(
  `a video is localized on Node ${VERSION}`,
  async () => {
    const PATH = folder + delimiter + vloc.env.PATH;
    const used = await promisify(execFile)('node', ['--version'], { env: { PATH } });
    expect(used.stdout.trim()).toBe(`v${VERSION}`);
    const finished = await vloc.runWith(
      { PATH },
      ...['localize', 'short.mp4', '--to', 'es', '--profile', 'local', '--out', 'out'],
    );
    expect(finished).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
    const { streams } = probeStreams(join(vloc.folder, 'out', 'short.es.mp4'));
    expect(streams.map((stream) => stream.tags?.language)).toContain('spa');
  },
  2 * MINUTES,
);
