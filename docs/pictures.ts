/**
 * Creates the pictures of the documentation from a real run on the sample video: `npm run pictures`. It takes some
 * minutes and needs Chromium (`apt-get install chromium`), the media engines, and util-linux.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locateProgram } from '../src/media/programs/programs.ts';
import { pictureAttention, pictureReport } from './pictures/report.ts';
import { drawTerminal, recordTerminal } from './pictures/terminal.ts';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const VLOC = pathOf('../bin/vloc.js');
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'];

const searchPath = process.env.PATH ?? '';
const browser = BROWSERS.map((name) => locateProgram(name, searchPath)).find((path) => path !== null);
if (browser === undefined || browser === null)
  throw new Error('Chromium is not installed: apt-get install chromium');

const folder = mkdtempSync(join(tmpdir(), 'vloc-pictures-'));
// Keeps the user's own configuration and jobs out of the pictures.
const env = {
  ...process.env,
  VLOC_PROFILE: 'local',
  VLOC_STATE_DIR: join(folder, '.state'),
  VLOC_CONFIG_DIR: join(folder, '.config'),
};
const run = { cwd: folder, env };
const vloc = (...words: string[]) =>
  execFileSync(process.execPath, [VLOC, ...words], { ...run, stdio: ['ignore', 'inherit', 'inherit'] });

try {
  mkdirSync(join(folder, 'lessons'));
  copyFileSync(pathOf('../test/fixtures/sample.mp4'), join(folder, 'lessons/sample.mp4'));
  const shown = 'vloc localize lessons --to es,ca --out out';
  const written = recordTerminal(`"${process.execPath}" "${VLOC}" ${shown.slice('vloc '.length)}`, run);
  const screen = `$ ${shown}\r\n${written.replaceAll(folder, '~')}`;
  writeFileSync(pathOf('pictures/terminal.svg'), await drawTerminal('vloc in a terminal', screen));
  vloc('separate', 'lessons', '--out', 'out');
  vloc('recognize', 'lessons', '--out', 'out');
  vloc('translate', 'out/sample.en.srt', '--to', 'es', '--out', 'out');
  vloc('dub', 'out/sample.es.srt', '--to', 'es', '--out', 'out');
  // What the small engines get wrong differs with their versions: these mistakes are put in.
  const spanish = join(folder, 'out/sample.es.srt');
  const right = readFileSync(spanish, 'utf8').split('\n\n');
  const source = readFileSync(join(folder, 'out/sample.en.srt'), 'utf8').split('\n\n');
  const [, , third = ''] = right;
  const twice = `${third}\n${third.split('\n').slice(2).join(' ').repeat(2)}`;
  writeFileSync(
    spanish,
    right
      .with(1, source[1] ?? '')
      .with(2, twice)
      .join('\n\n'),
  );
  vloc('batch', 'report', 'out', '--html', '--out', 'out/report.html');
  await pictureAttention(browser, join(folder, 'out/report.html'), pathOf('pictures/attention.png'));
  writeFileSync(spanish, right.join('\n\n'));
  vloc('batch', 'report', 'out', '--html', '--out', 'out/report.html');
  const entry = { name: 'sample.mp4', language: 'es' };
  await pictureReport(browser, join(folder, 'out/report.html'), entry, pathOf('pictures/report.png'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
