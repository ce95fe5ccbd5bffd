/** Files that pose as videos to make the service open other files or addresses. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ffmpeg } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';

const playlist = (target: string) =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n${target}\n#EXT-X-ENDLIST\n`;
const dash =
  '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period>' +
  '<AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>http://127.0.0.1:18999/d.mp4</BaseURL>' +
  '</Representation></AdaptationSet></Period></MPD>';

/** Name of the trap and its content, given the folder with the files to steal. */
const TRAPS: [string, (folder: string) => string | Buffer][] = [
  ['hls-file.mp4', (folder) => playlist(`file://${folder}/segment.ts`)],
  ['hls-http.mp4', () => playlist('http://127.0.0.1:18999/a.ts')],
  ['hls-concat.avi', (folder) => playlist(`concat:${folder}/canary.txt|${folder}/segment.ts`)],
  ['hls-subfile.mov', (folder) => playlist(`subfile,,start,0,end,100,,:${folder}/canary.txt`)],
  ['concat-absolute.mp4', (folder) => `ffconcat version 1.0\nfile '${folder}/segment.ts'\n`],
  ['concat-relative.mp4', () => 'ffconcat version 1.0\nfile segment.ts\n'],
  ['dash.mp4', () => dash],
  ['pls.mpg', (folder) => `[playlist]\nFile1=file://${folder}/canary.txt\n`],
  [
    'sdp.mpeg',
    () => 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 18998 RTP/AVP 33\n',
  ],
  ['html.mp4', () => '<html>login</html>'],
  ['empty.mp4', () => ''],
  ['random.mp4', () => Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * at * 31 + at) % 256))],
  [
    'svg.mp4',
    (folder) => `<svg xmlns="http://www.w3.org/2000/svg"><image href="${folder}/canary.txt"/></svg>`,
  ],
];

/** strace may be missing, or forbidden in a container. */
const canTrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;

test('traps are refused as media, and none opens another file or connects to anything', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'canary.txt'), 'CANARY');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=d=1:s=160x120:r=25', '-c:v', 'mpeg2video'];
  ffmpeg(...picture, join(folder, 'segment.ts'));
  for (const [name, content] of TRAPS) writeFileSync(join(folder, name), content(folder));
  const trace = join(folder, 'trace.log');
  const engines = new URL('../../src/engines/index.ts', import.meta.url).href;
  const files = TRAPS.map(([name]) => join(folder, name));
  const script = `
    const { createEngines } = await import(${JSON.stringify(engines)});
    const inspect = (file) => createEngines().inspect(file, new AbortController().signal).catch((error) => error.code);
    console.log(JSON.stringify(await Promise.all(${JSON.stringify(files)}.map(inspect))));`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  const strace = ['strace', '-f', '-qq', '-e', 'trace=openat,connect', '-o', trace];
  const [program = '', ...args] = canTrace ? [...strace, ...node] : node;
  const codes: unknown[] = JSON.parse(execFileSync(program, args, { encoding: 'utf8' }));
  const outcomes = Object.fromEntries(TRAPS.map(([name], at) => [name, codes[at]]));
  const refused = expect.stringMatching(/^MEDIA_(UNSUPPORTED|CORRUPT)$/);
  expect(outcomes).toEqual(Object.fromEntries(TRAPS.map(([name]) => [name, refused])));
  if (!canTrace) return;
  const calls = readFileSync(trace, 'utf8').split('\n');
  for (const file of files) expect(calls.some((call) => call.includes(`"${file}"`))).toBe(true);
  expect(calls.filter((call) => /segment\.ts|canary\.txt/.test(call))).toEqual([]);
  expect(calls.filter((call) => call.includes('AF_INET'))).toEqual([]);
});
