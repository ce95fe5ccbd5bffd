/** Files that pose as videos: those that lead ffmpeg to other files and addresses, and those that lie about themselves. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forgeDurations } from '../../media/forged-mp4.ts';

export interface Bait {
  /** Folder with `canary.txt` and `segment.ts`, which nobody may open. */
  readonly folder: string;
  /** Port on this machine that nobody may call. */
  readonly port: number;
}

export interface Trap {
  readonly name: string;
  readonly bytes: Buffer;
}

const playlist = (target: string) =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n${target}\n#EXT-X-ENDLIST\n`;

const dash = (port: number) =>
  '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" ' +
  'mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" ' +
  `bandwidth="1"><BaseURL>http://127.0.0.1:${port}/d.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`;

const sdp = (port: number) =>
  `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video ${port} RTP/AVP 33\n`;

/** Writes what the traps are to open. */
export function layBait(folder: string): void {
  writeFileSync(join(folder, 'canary.txt'), 'CANARY\n');
  ffmpeg(...PICTURE, '-r', '25', '-t', '2', '-c:v', 'mpeg2video', join(folder, 'segment.ts'));
}

/** The traps, with the name that each would be uploaded under. `work` is a folder for what is made on the way. */
export function makeTraps({ folder, port }: Bait, work: string): Trap[] {
  const texts: Record<string, string> = {
    'hls-file.mp4': playlist(`file://${folder}/segment.ts`),
    'hls-http.mp4': playlist(`http://127.0.0.1:${port}/a.ts`),
    'hls-concat.avi': playlist(`concat:${folder}/canary.txt|${folder}/segment.ts`),
    'hls-subfile.mov': playlist(`subfile,,start,0,end,100,,:${folder}/canary.txt`),
    'concat-absolute.mp4': `ffconcat version 1.0\nfile '${folder}/segment.ts'\n`,
    'concat-relative.mp4': 'ffconcat version 1.0\nfile segment.ts\n',
    'dash.mp4': dash(port),
    'pls.mpg': `[playlist]\nFile1=file://${folder}/canary.txt\n`,
    'sdp.mpeg': sdp(port),
    'svg.mp4': `<svg xmlns="http://www.w3.org/2000/svg"><image href="${folder}/canary.txt"/></svg>`,
    'html.mp4': '<html>login</html>',
    // An upload of no bytes cannot be reserved: one blank is the nearest.
    'blank.mp4': ' ',
  };
  const written = Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
  const random = Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * at * 31 + at * 7) % 256));
  return [...written, { name: 'random.mp4', bytes: random }, ...makeLies(work)];
}

const PICTURE = ['-f', 'lavfi', '-i', 'color=c=gray:s=64x48:r=1'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=8000'];
const CODING = ['-c:v', 'mpeg4', '-c:a', 'aac'];

/** Real media that are not what they say they are. */
function makeLies(work: string): Trap[] {
  const make = (name: string, ...args: string[]): Trap => {
    const path = join(work, name);
    ffmpeg(...args, path);
    return { name, bytes: readFileSync(path) };
  };
  const whole = make('whole.mp4', ...PICTURE, ...SOUND, '-t', '4', ...CODING);
  // Sound that is not compressed: a quarter of an hour of anything else takes long to encode.
  const forged = make(
    'ten-seconds.mov',
    ...PICTURE,
    ...SOUND,
    '-t',
    '1000',
    '-c:v',
    'mpeg4',
    '-c:a',
    'pcm_mulaw',
  );
  forgeDurations(forged.bytes, 10);
  return [
    forged,
    { name: 'first-half.mp4', bytes: whole.bytes.subarray(0, whole.bytes.length / 2) },
    make('matroska.mp4', ...PICTURE, ...SOUND, '-t', '1', ...CODING, '-f', 'matroska'),
    make('sound-alone.mp4', ...SOUND, '-t', '1', '-c:a', 'aac'),
    make('picture-alone.mp4', ...PICTURE, '-t', '1', '-c:v', 'mpeg4'),
  ];
}

function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);
}
