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

/** Runs commands one after another and draws the terminal that they leave. */
async function pictureCommands(name: string, title: string, lines: readonly string[]): Promise<void> {
  const shown = lines.map((line) => {
    const command = line.replace(/^vloc /, `"${process.execPath}" "${VLOC}" `);
    return `$ ${line}\r\n${recordTerminal(command, run).replaceAll(folder, '~')}`;
  });
  writeFileSync(pathOf(`pictures/${name}`), await drawTerminal(title, shown.join('\r\n')));
}

/** Replaces the third cue by that of the original: its text is in row 13. */
function swapCue(translation: string, original: string): void {
  const [wrong, right] = [original, translation].map((path) => readFileSync(path, 'utf8').split('\n\n'));
  writeFileSync(translation, right?.with(2, wrong?.[2] ?? '').join('\n\n') ?? '');
}

/** Draws the three styles of burned subtitles: the lower halves of two pictures, beside one that is higher than wide. */
function pictureStyles(video: string, subtitles: string): void {
  const ffmpeg = (...words: string[]) => execFileSync('ffmpeg', ['-v', 'error', '-y', ...words], run);
  ffmpeg('-i', video, '-vf', 'crop=ih*9/16:ih', '-an', '-t', '12', 'portrait.mp4');
  const preview = (of: string, style: string) =>
    vloc(
      'subtitles',
      'preview',
      subtitles,
      ...['--video', of, '--at', '11', '--subtitle-style', style, '--out', `${style}.png`],
    );
  for (const style of ['plain', 'box']) preview(video, style);
  preview('portrait.mp4', 'vertical');
  const half = 'crop=iw:ih/2:0:ih/2';
  const filter = `[0]${half}[a];[1]${half}[b];[a][b]vstack[c];[c][2]hstack`;
  const inputs = ['plain', 'box', 'vertical'].flatMap((style) => ['-i', `${style}.png`]);
  ffmpeg(...inputs, '-filter_complex', filter, '-c:v', 'libwebp', pathOf('pictures/styles.webp'));
}

try {
  mkdirSync(join(folder, 'lessons'));
  copyFileSync(pathOf('../test/fixtures/sample.mp4'), join(folder, 'lessons/sample.mp4'));
  await pictureCommands('terminal.svg', 'vloc in a terminal', ['vloc localize lessons --to es,ca --out out']);
  vloc('localize', 'lessons', '--to', 'es', '--out', 'edited', '--stop-after', 'translate');
  swapCue(join(folder, 'lessons/sample.es.srt'), join(folder, 'lessons/sample.en.srt'));
  vloc('localize', 'lessons', '--to', 'es', '--out', 'edited', '--from-subtitles');
  await pictureCommands('editing.svg', 'vloc in a terminal: one line is corrected and dubbed again', [
    'vloc batch report edited --attention',
    "sed -i '13s/.*/No fue hasta que murió su padre./' lessons/sample.es.srt",
    'vloc localize lessons --to es --out edited --from-subtitles --dry-run',
    'vloc localize lessons --to es --out edited --from-subtitles --quiet',
    'vloc batch report edited --attention',
  ]);
  pictureStyles(join(folder, 'lessons/sample.mp4'), join(folder, 'lessons/sample.es.srt'));
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
