/** The translation memory of `vloc translate`: what is sent, and what is paid. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../src/engines/engine.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';
import { tmx } from '../support/tmx.ts';

interface Desk extends VlocScene {
  /** The texts that the service was sent, by job. */
  readonly sent: (readonly string[])[];
  /** Writes a source of these texts, two seconds each. */
  readonly write: (name: string, texts: readonly string[]) => Promise<void>;
  /** The texts of a result. */
  readonly read: (name: string) => Promise<readonly string[]>;
}

const time = (ms: number) => new Date(ms).toISOString().slice(11, 23).replace('.', ',');

async function openDesk(translate = (text: string) => text.toUpperCase()): Promise<Desk> {
  const sent: (readonly string[])[] = [];
  const small = createSmallEngines();
  const engines: Engines = {
    ...small,
    run: {
      ...small.run,
      async subtitle_translation({ lines, targetLanguage }) {
        sent.push(lines.map(({ text }) => text));
        const translated = lines.map((line) => ({ ...line, text: translate(line.text) }));
        return { subtitle: { language: targetLanguage, lines: translated } };
      },
    },
  };
  const vloc = await startVloc({ engines });
  return {
    ...vloc,
    sent,
    async write(name, texts) {
      const cues = texts.map(
        (text, at) => `${at + 1}\n${time(at * 2000)} --> ${time(at * 2000 + 1500)}\n${text}\n`,
      );
      await writeFile(join(vloc.folder, name), cues.join('\n'));
    },
    async read(name) {
      const text = await readFile(join(vloc.folder, name), 'utf8');
      return text
        .trim()
        .split('\n\n')
        .map((cue) => cue.split('\n').slice(2).join('\n'));
    },
  };
}

const TRANSLATE = ['translate', 'talk.srt', '--from', 'en', '--to', 'es'];
const TALK = ['Hello there.', 'This is a', 'long sentence.', 'Goodbye.'];

const chargedIn = (stdout: string): number =>
  JSON.parse(stdout).data.reduce(
    (sum: number, each: { charged_credits: number | null }) => sum + (each.charged_credits ?? 0),
    0,
  );

it('files with the same bytes are all written from memory, at the same time', async () => {
  const vloc = await openDesk();
  await mkdir(join(vloc.folder, 'in'));
  const words = ['translate', 'in', '--from', 'en', '--to', 'es', '--out', 'out'];
  await vloc.write('in/talk.srt', TALK);
  expect((await vloc.run(words)).code).toBe(0);
  const copies = ['copy-0', 'copy-1', 'copy-2'];
  for (const name of copies) await vloc.write(`in/${name}.srt`, TALK);
  const { code, stderr } = await vloc.run(words);
  expect(code, stderr).toBe(0);
  expect(vloc.sent).toHaveLength(1);
  const wanted = await vloc.read('out/talk.es.srt');
  for (const name of copies) expect(await vloc.read(`out/${name}.es.srt`)).toEqual(wanted);
});

describe('a second run after an edited source', () => {
  it('sends only the sentences with new cues, and pays what the dry run says', async () => {
    const desk = await openDesk();
    await mkdir(join(desk.folder, 'in'));
    const files = Array.from({ length: 5 }, (_, file) => [
      `Film ${file} begins.`,
      'It is about',
      `number ${file}.`,
      `The end of ${file}.`,
    ]);
    for (const [file, texts] of files.entries()) await desk.write(`in/${file}.srt`, texts);
    const words = ['translate', 'in', '--from', 'en', '--to', 'es', '--out', 'out'];
    const first = await desk.run([...words, '--output', 'json']);
    expect([first.code, chargedIn(first.stdout)], first.stderr).toEqual([0, 20]);
    expect(first.stderr).not.toContain('from memory');
    await desk.write('in/1.srt', files[1]?.with(0, 'Film one begins!') ?? []);
    await desk.write('in/2.srt', files[2]?.with(2, 'number two.') ?? []);
    await desk.write('in/4.srt', files[4]?.with(3, 'Fin.') ?? []);
    desk.sent.length = 0;
    const planned = await desk.run([...words, '--dry-run', '--output', 'json']);
    const plan = JSON.parse(planned.stdout);
    expect(plan).toMatchObject({ jobs: 3, quantity: 4, done_before: 2 });
    expect(plan.memory).toEqual({ lines: 12, from_memory: 8, to_pay: 4 });
    const shown = await desk.run([...words, '--dry-run']);
    expect(shown.stderr).toContain('12 lines, 8 from memory, 4 to translate.');
    expect(desk.sent).toEqual([]);
    const second = await desk.run([...words, '--output', 'json']);
    expect([second.code, chargedIn(second.stdout)], second.stderr).toEqual([0, plan.credits]);
    expect(second.stderr).toContain('12 lines, 8 from memory, 4 translated.');
    expect(desk.sent.toSorted()).toEqual([['Film one begins!'], ['Fin.'], ['It is about', 'number two.']]);
    expect(await desk.read('out/2.es.srt')).toEqual([
      'FILM 2 BEGINS.',
      'IT IS ABOUT',
      'NUMBER TWO.',
      'THE END OF 2.',
    ]);
  });

  it('prefers the line of a person, also for other files', async () => {
    const desk = await openDesk();
    await desk.write('talk.srt', TALK);
    await desk.run(TRANSLATE);
    const path = join(desk.folder, 'talk.es.srt');
    await writeFile(path, (await readFile(path, 'utf8')).replace('HELLO THERE.', 'Buenas.'));
    const refused = await desk.run(TRANSLATE);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Remembered 1 line that you edited.');
    const unchanged = await desk.run([...TRANSLATE, '--clobber', '--output', 'json']);
    expect([unchanged.code, chargedIn(unchanged.stdout)], unchanged.stderr).toEqual([0, 0]);
    expect((await desk.read('talk.es.srt'))[0]).toBe('Buenas.');
    await desk.write('talk.srt', TALK.with(3, 'Bye now.'));
    const { code, stderr } = await desk.run([...TRANSLATE, '--clobber']);
    expect(code, stderr).toBe(0);
    expect(desk.sent.slice(1)).toEqual([['Bye now.']]);
    expect(await desk.read('talk.es.srt')).toEqual(['Buenas.', 'THIS IS A', 'LONG SENTENCE.', 'BYE NOW.']);
    await desk.write('other.srt', ['Hello there.', 'Something new.']);
    await desk.run(['translate', 'other.srt', '--from', 'en', '--to', 'es']);
    expect(await desk.read('other.es.srt')).toEqual(['Buenas.', 'SOMETHING NEW.']);
  });

  it('sends everything with --fresh, and what has terms that changed', async () => {
    const desk = await openDesk();
    await desk.write('talk.srt', TALK);
    await desk.run(TRANSLATE);
    await desk.run([...TRANSLATE, '--fresh', '--clobber']);
    expect(desk.sent).toEqual([TALK, TALK]);
    await writeFile(join(desk.folder, 'terms.csv'), 'term,es\nGoodbye,=\n');
    await desk.write('talk.srt', TALK.with(0, 'Good day.'));
    await desk.run([...TRANSLATE, '--clobber', '--terms', 'terms.csv']);
    expect(desk.sent.slice(2)).toEqual([['Good day.', 'Goodbye.']]);
    await desk.write('talk.srt', TALK.with(0, 'Good night.'));
    await desk.run([...TRANSLATE, '--clobber', '--terms', 'terms.csv', '--mask-terms']);
    expect(desk.sent.slice(3)).toEqual([['Good night.', '{T1}.']]);
    expect(await desk.read('talk.es.srt')).toEqual([
      'GOOD NIGHT.',
      'THIS IS A',
      'LONG SENTENCE.',
      'Goodbye.',
    ]);
  });
});

describe('a finished translation', () => {
  const NOTE =
    'talk.srt: the memory has newer translations of 2 lines (es); --clobber writes the result again with them, and pays only for lines that are not in the memory.';

  it('with lines that were imported since says so, and has them with --clobber, which pays nothing', async () => {
    const desk = await openDesk();
    await desk.write('talk.srt', TALK);
    await desk.run(TRANSLATE);
    await writeFile(
      join(desk.folder, 'team.tmx'),
      tmx(['Hello there.', 'Muy buenas.'], ['Goodbye.', '<hi type="italic">Chao.</hi>'], ['Other.', 'Otra.']),
    );
    await desk.run(['memory', 'import', 'team.tmx']);
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await desk.run([...TRANSLATE, ...more]);
      expect([code, stderr]).toEqual([0, expect.stringContaining(NOTE)]);
    }
    expect((await desk.read('talk.es.srt'))[0]).toBe('HELLO THERE.');
    const { code, stdout, stderr } = await desk.run([...TRANSLATE, '--clobber', '--output', 'json']);
    expect([code, chargedIn(stdout)], stderr).toEqual([0, 0]);
    const wanted = ['Muy buenas.', 'THIS IS A', 'LONG SENTENCE.', '<i>Chao.</i>'];
    expect(await desk.read('talk.es.srt')).toEqual(wanted);
    const again = await desk.run([...TRANSLATE, '--clobber']);
    expect(again.stderr).not.toContain('newer');
    expect(again.stderr).toContain('Nothing to do');
    expect(await desk.read('talk.es.srt')).toEqual(wanted);
    expect(desk.sent).toEqual([TALK]);
  });
});

describe('--memory', () => {
  it('shares a file between folders, but not the lines of another service unless asked', async () => {
    const [desk, other] = [await openDesk(), await openDesk((text) => text.toLowerCase())];
    await desk.write('talk.srt', TALK);
    const shared = ['--memory', join(desk.folder, 'team.db')];
    await desk.run([...TRANSLATE, ...shared]);
    const second = await desk.run([...TRANSLATE, ...shared, '--out', 'second']);
    expect([second.code, desk.sent.length], second.stderr).toEqual([0, 1]);
    await other.write('talk.srt', TALK);
    await other.run([...TRANSLATE, ...shared]);
    expect(other.sent).toEqual([TALK]);
    const asked = await other.run([...TRANSLATE, ...shared, '--any-memory', '--out', 'third']);
    expect([asked.code, other.sent.length], asked.stderr).toEqual([0, 1]);
    expect(await other.read('third/talk.es.srt')).toEqual(TALK.map((text) => text.toLowerCase()));
    await desk.write('own.srt', TALK);
    await writeFile(join(desk.folder, 'vloc.config.json'), '{ "defaults": { "memory": "team.db" } }');
    const own = await desk.run(['translate', 'own.srt', '--from', 'en', '--to', 'es', '--out', 'fourth']);
    expect([own.code, desk.sent.length], own.stderr).toEqual([0, 1]);
  });
});
