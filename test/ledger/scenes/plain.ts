/** Jobs of one kind: the five kinds, and what is cut, remembered, masked, joined or patched on this machine. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { CLIP, type Desk, type Scene } from '../desk.ts';

/** Subtitles of these texts, one a second, each of 0.9 s. */
export function srtOf(...texts: readonly string[]): string {
  const cues = texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`);
  return cues.join('\n');
}

export const GREETINGS = srtOf('good morning', 'good night');

/** Six seconds, which are long here: two parts. Key frames everywhere, so that the picture need not be encoded. */
async function longVideo(): Promise<Buffer> {
  const h264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5'];
  return readFile(makeVideo(makeFolder(), 'long.mp4', 6, '-vf', 'scale=64:48', ...h264, '-c:a', 'aac'));
}

/** The clip in another form. */
async function otherVideo(ending: string, ...options: string[]): Promise<Buffer> {
  const path = join(makeFolder(), `other.${ending}`);
  ffmpeg('-i', CLIP, ...options, path);
  return readFile(path);
}

export const VOICES = `WEBVTT

00:00.000 --> 00:01.000
<v Anna>hello

00:01.000 --> 00:02.500
<v Ben>you too

00:03.000 --> 00:04.000
well
`;

/** Loses the term of the second line. */
const careless = (text: string) => (text.includes('two') ? 'dos' : `[es] ${text}`);

export const PLAIN: readonly Scene[] = [
  {
    name: 'a localization',
    async play({ put, run }) {
      await put('clip.mp4');
      await run('localize clip.mp4 --to es');
    },
  },
  {
    name: 'a separation',
    async play({ put, run }) {
      await put('clip.mp4');
      await run('separate clip.mp4');
    },
  },
  {
    name: 'a recognition',
    async play({ put, run }) {
      await put('clip.mp4');
      await run('recognize clip.mp4');
    },
  },
  {
    name: 'a folder in two languages, with options',
    async play({ put, run }) {
      await put('videos/one.mp4');
      await put('videos/deep/two.mp4');
      await run('localize videos --from en --to es,ca --voice-mode female --set tone=warm --out out');
    },
  },
  {
    name: 'subtitles in two languages and another format',
    async play({ put, run }) {
      await put('lines.srt', GREETINGS);
      await run('translate lines.srt --from en --to es,ca --subtitle-format vtt');
    },
  },
  {
    name: 'a long video in parts',
    async play({ put, run }) {
      await put('long.mp4', await longVideo());
      await run('localize long.mp4 --to es --split');
    },
  },
  {
    name: 'long subtitles in parts',
    async play({ put, run }) {
      await put('lines.srt', srtOf('one', 'two', 'three', 'four', 'five', 'six'));
      await run('translate lines.srt --from en --to es --split');
    },
  },
  {
    name: 'a sample, and then the whole',
    async play({ put, run }) {
      await put('long.mp4', await longVideo());
      await run('recognize long.mp4 --from en --sample 5s');
      await run('recognize long.mp4 --from en --split');
    },
  },
  {
    name: 'a memory that knows no line, some, and all',
    async play({ put, run }) {
      await put('a.srt', srtOf('One.', 'Two.'));
      await put('b.srt', srtOf('Two.', 'Three.'));
      await put('c.srt', srtOf('Three.', 'One.'));
      for (const name of ['a', 'b', 'c'])
        await run(`translate ${name}.srt --from en --to es --memory memory.db`);
    },
  },
  {
    name: 'masked terms, one of which is lost',
    translate: careless,
    async play({ put, run }) {
      await put('terms.csv', 'term,es,note\nAcme,=,\n');
      await put('lines.srt', srtOf('one for Acme', 'two for Acme'));
      await run('translate lines.srt --from en --to es --terms terms.csv --mask-terms', {
        // A lost term is known only when the translation is there.
        differs: 'subtitle_translation planned 1 for 2, sent 2 for 3',
      });
    },
  },
  {
    name: 'two files of the same bytes',
    async play({ put, run }) {
      await put('one.mp4');
      await put('two.mp4');
      await run('localize one.mp4 two.mp4 --to es');
    },
  },
  {
    name: 'a video that is converted',
    async play({ put, run }) {
      await put('clip.mkv', await otherVideo('mkv', '-c', 'copy'));
      await run('recognize clip.mkv --from en --convert');
    },
  },
  {
    name: 'a video without sound that is copied',
    async play({ put, run }) {
      await put('silent.mp4', await otherVideo('mp4', '-an', '-c', 'copy'));
      await run('localize silent.mp4 --to es --pass-through');
    },
  },
  {
    name: 'two speakers and a line of nobody',
    async play({ put, run }) {
      await put('talk.vtt', VOICES);
      await run('dub talk.vtt --to es --voices anna=female,ben=male');
    },
  },
  {
    name: 'a dub after an edit, lines that are named, and the whole',
    async play({ put, edit, run }: Desk) {
      // Three units.
      const [one = '', two = '', three = ''] = ['uno', 'dos', 'tres'].map((text) => text.padEnd(800, '.'));
      await put('talk.es.srt', srtOf(one, two, three));
      await run('dub talk.es.srt --to es');
      await edit('talk.es.srt', two, 'otra frase');
      await run('dub talk.es.srt --to es');
      await run('dub talk.es.srt --to es --only 3');
      await edit('talk.es.srt', 'uno', 'una');
      await run('dub talk.es.srt --to es --whole');
    },
    repeat: 'dub talk.es.srt --to es',
  },
];
