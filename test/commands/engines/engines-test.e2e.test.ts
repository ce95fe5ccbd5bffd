import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { nodeScript, script } from '../../engines/backends/user-program.ts';
import { until } from '../../service/harness/scene.ts';
import { pathWithout } from '../../support/path-without.ts';
import { type EnginesDesk, openEnginesDesk, PROGRAMS } from '../support/run-engines.ts';

let desk: EnginesDesk;
beforeEach(async () => {
  desk = await openEnginesDesk();
});

const command = (name: keyof typeof PROGRAMS, ...args: string[]) => ({
  type: 'command',
  run: [nodeScript(PROGRAMS[name], name), ...args],
});

/** An engine of a few lines for each step. */
const small = () => ({
  recognize: [{ ...command('recognize', '{input}', '{output}'), languages: ['en'] }],
  translate: [{ ...command('translate'), languages: ['en', 'es'] }],
  speak: [{ ...command('speak'), languages: ['es'] }],
  separate: [{ ...command('separate', '{input}', '{out}'), vocals: 'voice.wav', background: 'rest.wav' }],
});

describe('vloc engines test', () => {
  it('shows the output of each engine for the sample, how good and how fast it is', async () => {
    await desk.configure(small());
    const { code, stdout, stderr } = await desk.run(['test', '-o', 'json']);
    expect(stderr).toContain('recognize: command recognize');
    expect(code).toBe(0);
    const time = expect.any(Number);
    expect(JSON.parse(stdout).data).toEqual([
      {
        step: 'recognize',
        position: 1,
        engine: 'command recognize',
        result: 'succeeded',
        language: 'en',
        output: expect.stringContaining('john dashwood'),
        word_error_rate: 1 / 22,
        chrf: null,
        understood: null,
        memory_bytes: null,
        seconds: time,
        real_time_factor: time,
        problem: null,
      },
      expect.objectContaining({
        engine: 'command translate',
        language: 'en to es',
        output: expect.stringMatching(/^GOOD MORNING, AND WELCOME/),
        word_error_rate: null,
        chrf: expect.any(Number),
        real_time_factor: null,
      }),
      expect.objectContaining({
        engine: 'command speak',
        language: 'es',
        output: '2.0 s of speech, 8000 Hz, -15 dB',
        real_time_factor: time,
      }),
      expect.objectContaining({
        engine: 'command separate',
        language: null,
        output: 'noise in the voice 0 dB lower',
        real_time_factor: time,
      }),
    ]);
  });

  it('is a table for people', async () => {
    await desk.configure(small());
    const { stdout } = await desk.run(['test', 'recognize']);
    expect(stdout).toMatch(/^USED FOR +ENGINE +LANGUAGE +QUALITY +TIME +MEMORY +RESULT +OUTPUT\n/);
    expect(stdout).toMatch(
      /recognize +command recognize +en +5 % of the words wrong +\d+\.\d\d × real time +- +succeeded +and mister/,
    );
  });

  it('skips a built-in engine that is not installed', async () => {
    const { code, stdout } = await desk.run(['test', 'speak', 'flite', '-o', 'json'], {
      PATH: pathWithout('flite'),
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).data).toMatchObject([
      { engine: 'flite', result: 'skipped', problem: 'flite is not installed' },
    ]);
  });

  it('fails with 4 if one fails, after the others were tried', async () => {
    const broken = {
      type: 'command',
      run: [nodeScript('process.exit(3)', 'broken')],
      languages: ['en', 'es'],
    };
    await desk.configure({ translate: [broken, ...small().translate] });
    const { code, stdout, stderr } = await desk.run(['test', 'translate']);
    expect(code).toBe(4);
    expect(stdout).toMatch(/command broken .* failed +command broken stopped with exit code 3/);
    expect(stdout).toMatch(/command translate .* succeeded/);
    expect(stderr).toContain('1 of 2 engines failed: command broken (translate)');
  });

  it('ends with its engine at Ctrl-C', async () => {
    const note = join(desk.folder, 'pid');
    const hanging = {
      type: 'command',
      run: [script(`echo $$ > '${note}'; exec sleep 600`)],
      languages: ['en', 'es'],
    };
    await desk.configure({ translate: [hanging] });
    const { code, stdout } = await desk.interrupt(['test', 'translate'], () =>
      until(
        () => (existsSync(note) ? readFileSync(note, 'utf8') : ''),
        (text) => text.endsWith('\n'),
      ),
    );
    expect([code, stdout]).toEqual([130, '']);
    expect(() => process.kill(Number(readFileSync(note, 'utf8')), 0)).toThrow('ESRCH');
  });
});
