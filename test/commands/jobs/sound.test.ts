/** Sound in, sound out: episodes of podcasts, and the sound of videos alone. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { makeSound, readSound, TAGS } from '../../support/sounds.ts';
import { openMediaDesk } from './desk.ts';

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };
const MP4 = ['-vf', 'scale=64:48', '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];

const namesIn = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith('.')).sort();

describe('a sound file', PATIENCE, () => {
  it.each(['mp3', 'm4a', 'm4b', 'aac', 'wav', 'flac', 'ogg', 'oga', 'opus'])(
    'in %s is localized in its format, and done when it runs again',
    async (extension) => {
      const desk = await openMediaDesk();
      const name = `episode.${extension}`;
      const source = makeSound(desk.folder, name);
      const words = ['localize', name, '--to', 'es', '-o', 'json'];
      const { code, stderr, stdout } = await desk.vloc(words);
      expect(code, stderr).toBe(0);
      const path = join(desk.folder, `episode.es.${extension}`);
      expect(JSON.parse(stdout).data[0].files[0]).toMatchObject({ path, kept: `sound as ${extension}` });
      const [before, after] = [readSound(source), readSound(path)];
      const { container, codec, chapters, covers } = before;
      expect(after).toMatchObject({ container, codec, chapters, covers });
      if (extension !== 'aac') expect(after.tags).toMatchObject(TAGS);
      const again = await desk.vloc(words);
      expect(JSON.parse(again.stdout).data[0].files[0]).toMatchObject({ path, skipped: true });
      expect(desk.count('createAutoLocalization')).toBe(1);
    },
  );
});
