/** Whatever happened in a folder, `--dry-run` says which jobs the run then sends and how many units they have. */
import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { it } from 'vitest';
import { type Desk, playScene } from './desk.ts';
import { srtOf } from './scenes/plain.ts';

const NAMES = ['a.srt', 'b.srt'] as const;
const TEXTS = fc.array(fc.constantFrom('One.', 'Two!', 'Three?', 'four', 'Five five.'), {
  minLength: 1,
  maxLength: 7,
});

/** What a person does between runs, and runs with options in any combination. */
const happening = fc.oneof(
  fc.record({ does: fc.constant('write' as const), name: fc.constantFrom(...NAMES), texts: TEXTS }),
  fc.record({ does: fc.constant('lose' as const), place: fc.nat(5) }),
  fc.record({ does: fc.constant('retouch' as const), place: fc.nat(5) }),
  fc.record({
    does: fc.constant('run' as const),
    command: fc.constantFrom('translate', 'dub'),
    inputs: fc.constantFrom(['a.srt'], ['a.srt', 'b.srt'], ['.']),
    to: fc.constantFrom('es', 'es,fr'),
    flags: fc.subarray(['--split', '--clobber', '--retry-failed', '--skip-done', '--whole', '--any-memory']),
    fails: fc.boolean(),
    detach: fc.boolean(),
  }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

async function happen(desk: Desk, each: Happening): Promise<void> {
  if (each.does === 'write') {
    await desk.put(each.name, srtOf(...each.texts));
  } else if (each.does === 'run') {
    const { command, inputs, to, detach, fails } = each;
    const flags = each.flags.filter((flag) => flag !== (command === 'dub' ? '--any-memory' : '--whole'));
    const from = command === 'dub' ? [] : ['--from', 'en'];
    const words = [command, ...inputs, ...from, '--to', to, '--out', 'out', ...flags];
    // A part that fails withdraws the others, which no plan foresees.
    desk.hosted.endsAs = fails && !flags.includes('--split') ? 'failed' : 'succeeded';
    await desk.run([...words, ...(detach ? ['--detach'] : [])].join(' '));
    desk.hosted.endsAs = 'succeeded';
  } else {
    const results = (await readdir(desk.path('out')).catch(() => []))
      .filter((name) => name !== '.vloc')
      .sort();
    const name = results[each.place];
    if (name === undefined) return;
    if (each.does === 'lose') await desk.remove(`out/${name}`);
    else await desk.put(`out/${name}`, 'mine');
    desk.give(`out/${name}`);
  }
}

/** So many take a few seconds; the others are the work of the long run. */
const ROUNDS = process.env.VLOC_LONG_TESTS === '1' ? 300 : 12;
const ROUND_MS = 30_000;

it(
  'is what the run then sends, for any files, options and records',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 6 }), async (story) => {
        await playScene({
          name: 'any',
          repeat: null,
          async play(desk) {
            await desk.put('a.srt', srtOf('One.', 'Two!'));
            await desk.put('b.srt', srtOf('One.'));
            for (const each of story) await happen(desk, each);
          },
        });
      }),
      { numRuns: ROUNDS, interruptAfterTimeLimit: ROUNDS * ROUND_MS },
    );
  },
  ROUNDS * ROUND_MS,
);
