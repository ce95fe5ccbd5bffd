/** The main job with the packed tool, on the oldest Node that package.json allows and on the newest. */
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
const [oldest] = /\d+\.\d+/.exec(packageFile.engines.node) ?? [];
const VERSIONS = [`${oldest}.0`, 'latest'];

let vloc: Installation;
/** By version, the folder of its `node`. */
let folders: ReadonlyMap<string, string>;

beforeAll(async () => {
  vloc = await openInstallation();
  ffmpeg('-i', SAMPLE, '-t', '4', '-c', 'copy', join(vloc.folder, 'short.mp4'));
  folders = new Map(await Promise.all(VERSIONS.map(installNode)));
}, 5 * MINUTES);
afterAll(() => vloc.remove());

async function installNode(version: string): Promise<readonly [version: string, folder: string]> {
  const home = join(vloc.folder, `node ${version}`);
  mkdirSync(home);
  // Without a script of its own, which fetches the program for this system, the package is empty.
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  await promisify(execFile)('npm', ['install', `node@${version}`, ...QUIET], { cwd: home });
  return [version, join(home, 'node_modules/node/bin')];
}

it.each(VERSIONS)(
  'a video is localized on Node %s',
  async (version) => {
    const folder = folders.get(version) ?? '';
    const PATH = folder + delimiter + vloc.env.PATH;
    const state = join(vloc.stateDir, version);
    const used = await promisify(execFile)('node', ['--version'], { env: { PATH } });
    if (version !== 'latest') expect(used.stdout.trim()).toBe(`v${version}`);
    const finished = await vloc.runWith(
      { PATH, VLOC_STATE_DIR: state },
      ...['localize', 'short.mp4', '--to', 'es', '--profile', 'local', '--out', version],
    );
    expect(finished).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
    const { streams } = probeStreams(join(vloc.folder, version, 'short.es.mp4'));
    expect(streams.map((stream) => stream.tags?.language)).toContain('spa');
  },
  2 * MINUTES,
);
