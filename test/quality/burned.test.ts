/** Burned subtitles, in rendered pixels: letters instead of boxes, direction, rows that fit, and HDR that stays HDR. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { convertVideo, planConversion } from '../../src/media/export/convert.ts';
import { type ExportTask, exportVideo } from '../../src/media/export/export.ts';
import { joinVideos } from '../../src/media/join/join-videos.ts';
import { readFacts } from '../../src/media/probe/facts.ts';
import { splitLongVideo } from '../../src/media/split/split-long-video.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../engines/workspace.ts';
import { readLongVideo } from '../prepare/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import { FIGURE, report } from './report.ts';

const HAS_FONTS =
  existsSync('/usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf') &&
  existsSync('/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc');

const LANDSCAPE = { width: 640, height: 360 };
const PORTRAIT = { width: 360, height: 640 };
/** Enough for a cue to have a picture of its own. */
const RATE = 4;
const X264 = [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
  ...['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709'],
];

/** A grey picture without subtitles and with silence. */
function clip(seconds: number, { width, height }: Size, codec: readonly string[] = X264): string {
  const path = join(makeFolder(), 'clip.mp4');
  const picture = `color=c=gray:s=${width}x${height}:r=${RATE}:d=${seconds}`;
  const silence = `anullsrc=r=48000:cl=mono,atrim=0:${seconds}`;
  ffmpeg('-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', silence, ...codec, '-c:a', 'aac', path);
  return path;
}

type Size = typeof LANDSCAPE;

async function burn(video: string, language: string, texts: readonly string[]): Promise<string> {
  const lines = texts.map((text, index) => ({
    index: index + 1,
    start_ms: index * 1000,
    end_ms: index * 1000 + 1000,
    text,
  }));
  const task: ExportTask = {
    video,
    sound: { type: 'original' },
    subtitle: { language, lines },
    subtitleOutput: 'burned',
    resolution: 'source',
  };
  return (await exportVideo(programs, task, createWork(makeFolder()))).path;
}

/** Bright pixels of a picture. */
interface Ink extends Size {
  readonly isInk: (x: number, y: number) => boolean;
}

/** Letters are 235 on grey of 126; their edges are between. */
const BRIGHT = 175;

/** The picture in the middle of each cue. */
function pictures(path: string, { width, height }: Size): Ink[] {
  const args = ['-v', 'error', '-i', path, '-map', '0:v', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'];
  const bytes = execFileSync('ffmpeg', args, { maxBuffer: 2 ** 28 });
  const count = Math.floor(bytes.length / (width * height * RATE));
  return Array.from({ length: count }, (_, cue) => {
    const start = (cue * RATE + RATE / 2) * width * height;
    return { width, height, isInk: (x, y) => (bytes[start + y * width + x] ?? 0) > BRIGHT };
  });
}

async function render(language: string, texts: readonly string[], size: Size = LANDSCAPE): Promise<Ink[]> {
  const path = await burn(clip(texts.length, size), language, texts);
  return pictures(path, size);
}

const labels = (path: string) =>
  ffprobe(path, 'stream=codec_name,pix_fmt,color_space,color_transfer,color_primaries', 'v:0').split('\n');

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Consecutive numbers as ranges. */
function groups(numbers: readonly number[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else found.push({ from: number, to: number });
  }
  return found;
}

const inkRows = ({ width, height, isInk }: Ink) =>
  range(height).filter((y) => range(width).some((x) => isInk(x, y)));
const inkColumns = ({ width, height, isInk }: Ink) =>
  range(width).filter((x) => range(height).some((y) => isInk(x, y)));

/** The picture as text, to compare it with others. Empty without ink. */
function shape(ink: Ink): string {
  const rows = inkRows(ink);
  const columns = inkColumns(ink);
  return rows.map((y) => columns.map((x) => (ink.isInk(x, y) ? '#' : '.')).join('')).join('\n');
}

/** How high the ink is at the left and the right end, as a share of the whole: a full stop is low, a letter is not. */
function ends(ink: Ink): { left: number; right: number } {
  const rows = inkRows(ink);
  const parts = groups(inkColumns(ink));
  const share = (part: { from: number; to: number } | undefined) => {
    const { from, to } = part ?? { from: 0, to: 0 };
    const own = rows.filter((y) => range(to - from + 1).some((x) => ink.isInk(from + x, y)));
    return own.length / rows.length;
  };
  return { left: share(parts[0]), right: share(parts.at(-1)) };
}

/** Below this height of the row it is a full stop. */
const STOP = 0.35;

/** Three words of the same number of letters. As boxes they would all look the same. */
const SCRIPTS = [
  ['Latin', 'es', ['señor', 'mundo', 'plaza']],
  ['Cyrillic', 'ru', ['слово', 'земля', 'птица']],
  ['Greek', 'el', ['λόγος', 'φωνές', 'ψυχές']],
  ['Arabic', 'ar', ['كتاب', 'سلام', 'جميل']],
  ['Hebrew', 'he', ['שלום', 'עולם', 'תודה']],
  ['Devanagari', 'hi', ['नमस्ते', 'दुनिया', 'हिन्दी']],
  ['Thai', 'th', ['สวัสดี', 'ดาวดวง', 'กาแฟดี']],
  ['Japanese', 'ja', ['日本語', '映画館', 'テスト']],
  ['Chinese', 'zh', ['电影院', '星期五', '欢迎您']],
  ['Korean', 'ko', ['한국어', '영화관', '금요일']],
] as const;

interface Writing {
  readonly language: string;
  readonly words: readonly string[];
  /** Sentences that end with a full stop, and the side where it belongs. */
  readonly stop?: readonly ['left' | 'right', string, string];
  /** A cue of many words without spaces. */
  readonly long?: string;
}

/** Scripts that are drawn in different ways: joined, from right to left, with marks above, without spaces. */
const WRITINGS: readonly Writing[] = [
  { language: 'en', words: SCRIPTS[0][2], stop: ['right', 'Hello world.', 'It is שלום in Hebrew.'] },
  { language: 'ar', words: SCRIPTS[3][2], stop: ['left', 'كتاب جميل.', 'YouTube هو كتاب.'] },
  { language: 'he', words: SCRIPTS[4][2], stop: ['left', 'שלום עולם.', 'YouTube ו Instagram כאן.'] },
  { language: 'hi', words: SCRIPTS[5][2] },
  {
    ...{ language: 'th', words: SCRIPTS[6][2] },
    long: 'ภาพยนตร์เรื่องใหม่ของเราจะเข้าฉายในวันศุกร์หน้าผู้กำกับขอเชิญชมในโรงภาพยนตร์ทั่วประเทศ',
  },
  {
    ...{ language: 'ja', words: [...SCRIPTS[7][2], '骨直'] },
    long: '私たちの新しい映画は来週の金曜日に全国の映画館で公開されますのでぜひご覧ください',
  },
  { language: 'zh', words: [...SCRIPTS[8][2], '骨直'] },
  { language: 'zh-Hant', words: ['骨直'] },
];

describe.skipIf(!HAS_FONTS)('letters (needs fonts-noto-core and fonts-noto-cjk: sh .ci/packages)', () => {
  const areReadable = (inks: readonly Ink[]) => {
    const shapes = new Set(inks.map(shape));
    return shapes.size === inks.length && !shapes.has('');
  };

  test('of ten scripts are letters, not boxes', FIGURE, async () => {
    const readable: string[] = [];
    for (const [script, language, words] of SCRIPTS) {
      if (areReadable(await render(language, words))) readable.push(script);
    }
    report('scripts of 10 that are readable with the fonts of `--font`', readable.length, '');
    expect(readable).toEqual(SCRIPTS.map(([script]) => script));
  });

  test('are no boxes, have the form of their country, stay inside the picture, and end with the full stop on the side of their script', async () => {
    const forms = new Set<string>();
    for (const { language, words, stop, long } of WRITINGS) {
      const [side, ...sentences] = stop ?? [undefined];
      const texts = [...words, ...sentences, ...(long === undefined ? [] : [long])];
      const inks = await render(language, texts, PORTRAIT);
      expect(areReadable(inks), language).toBe(true);
      if (words.includes('骨直')) forms.add(shape(inks[words.length - 1] as Ink));
      for (const ink of inks.slice(words.length, words.length + sentences.length)) {
        const { left, right } = ends(ink);
        expect(left < STOP ? 'left' : right < STOP ? 'right' : 'neither', language).toBe(side);
      }
      const columns = inkColumns(inks.at(-1) as Ink);
      expect(columns[0]).toBeGreaterThan(PORTRAIT.width * 0.02);
      expect(columns.at(-1)).toBeLessThan(PORTRAIT.width * 0.98);
    }
    expect(forms.size).toBe(3);
  });
});

describe('rows', () => {
  const CUE = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all.';

  test.each([
    ['landscape', LANDSCAPE, 2, 0.05],
    ['portrait', PORTRAIT, 4, 0.2],
  ])(
    'of a usual cue in %s are inside the picture, whose colours keep their labels, and above what players and platforms cover',
    async (name, size, count, below) => {
      const path = await burn(clip(1, size), 'en', [CUE]);
      expect(labels(path)).toEqual(['h264', 'yuv420p', 'bt709', 'bt709', 'bt709']);
      const [ink] = pictures(path, size);
      if (ink === undefined) throw new Error('no picture');
      const rows = groups(inkRows(ink));
      report(`rows of a cue of 78 letters in ${name}`, rows.length, '');
      expect(rows).toHaveLength(count);
      expect(rows.at(-1)?.to).toBeLessThan(size.height * (1 - below));
      // From the highest to the lowest letter, as a share of the width of a phone that is held like the picture.
      const height =
        Math.max(...rows.map(({ from, to }) => to - from + 1)) / Math.min(size.width, size.height);
      report(`height of its letters in ${name}, of the shorter side`, 100 * height, '%');
      expect(height).toBeGreaterThan(0.035);
      const columns = inkColumns(ink);
      expect(columns[0]).toBeGreaterThan(0);
      expect(columns.at(-1)).toBeLessThan(size.width - 1);
    },
  );
});

describe('colours', () => {
  const hdr = (transfer: string) => [
    ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'],
    ...['-x265-params', 'log-level=error', '-color_primaries', 'bt2020', '-color_trc', transfer],
    ...['-colorspace', 'bt2020nc'],
  ];
  /** The brightest luma, in 10 bits. */
  const brightest = (path: string) => {
    const args = ['-v', 'error', '-i', path, '-map', '0:v', '-vf', 'extractplanes=y', '-pix_fmt', 'gray10le'];
    const bytes = execFileSync('ffmpeg', [...args, '-f', 'rawvideo', '-'], { maxBuffer: 2 ** 28 });
    return new Uint16Array(new Uint8Array(bytes).buffer).reduce((most, value) => Math.max(most, value), 0);
  };

  /** Facts about the first frame. */
  const askFrame = (path: string, entries: string) => {
    const first = ['-select_streams', 'v:0', '-read_intervals', '%+#1', '-show_entries', entries];
    return execFileSync('ffprobe', ['-v', 'error', ...first, '-of', 'default=nw=1', path], {
      encoding: 'utf8',
    });
  };

  /** Data about the display of the studio, which only HDR10 has. */
  const DISPLAY = [
    'log-level=error:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)',
    'max-cll=1000,400',
  ].join(':');
  const displayOf = (path: string) =>
    askFrame(path, 'frame_side_data=red_x,green_y,white_point_x,max_luminance,min_luminance,max_content');

  const isLikePaper = async (transfer: string, white: number, display: readonly string[]) => {
    const source = clip(1, LANDSCAPE, [...hdr(transfer), ...display]);
    const path = await burn(source, 'en', ['WHITE']);
    expect(labels(path)).toEqual(['hevc', 'yuv420p10le', 'bt2020nc', transfer, 'bt2020']);
    expect(displayOf(source).includes('max_content=1000')).toBe(display.length > 0);
    expect(displayOf(path)).toBe(displayOf(source));
    const level = brightest(path);
    report(`brightest text in HDR (${transfer}), of 1023; white paper is ${white}`, level, '');
    expect(Math.abs(level - white)).toBeLessThan(30);
  };
  // Reference white of 203 cd/m², as 10 bits in the range 64 to 940. Source: ITU-R BT.2408.
  test('of HDR10 stay in HDR, with text as bright as white paper', () =>
    isLikePaper('smpte2084', 573, ['-x265-params', DISPLAY]));
  test('of HLG stay in HDR, with text as bright as white paper', FIGURE, () =>
    isLikePaper('arib-std-b67', 721, []),
  );

  test('of HDR stay in HDR when a video is converted, cut into parts and joined', async () => {
    const folder = makeFolder();
    const work = createWork(folder);
    const HDR = ['hevc', 'yuv420p10le', 'bt2020nc', 'smpte2084', 'bt2020'];
    const lossless = join(folder, 'studio.mkv');
    const studio = ['-c:v', 'ffv1', '-pix_fmt', 'yuv420p10le', '-color_trc', 'smpte2084', '-c:a', 'aac'];
    ffmpeg('-i', clip(4, { width: 128, height: 72 }), ...studio, lossless);
    const facts = await readFacts(programs, lossless, work);
    const plan = planConversion(facts);
    if (plan.type !== 'convert') throw new Error('it is not converted');
    const converted = await convertVideo(programs, lossless, facts, plan, work);
    expect(labels(converted)).toEqual(HDR);

    const limits = { equalSeconds: 2, mostSeconds: 3, mostBytes: 1e9 };
    const split = await splitLongVideo(programs, await readLongVideo(converted, folder), work, limits);
    expect(split.picture).toBe('encoded');
    for (const { path } of split.parts) expect(labels(path)).toEqual(HDR);
    const paths = split.parts.map(({ path }) => path);
    const copied = await joinVideos(programs, paths, split, { name: 'copied.mp4', source: converted }, work);
    expect([copied.picture, labels(copied.path)]).toEqual(['copied', HDR]);
    // Another encoder was used for this part, so that both are encoded again.
    const other = join(folder, 'other.mp4');
    ffmpeg(
      '-i',
      paths.at(-1) ?? '',
      ...hdr('smpte2084'),
      '-x265-params',
      'log-level=error:bframes=0',
      '-c:a',
      'copy',
      other,
    );
    const encoded = await joinVideos(
      programs,
      [...paths.slice(0, -1), other],
      split,
      { name: 'encoded.mp4', source: converted },
      work,
    );
    expect([encoded.picture, labels(encoded.path)]).toEqual(['encoded', HDR]);
    expect([copied.frames, encoded.frames]).toEqual([4 * RATE, 4 * RATE]);
  });
});
