import { describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/base/exit-codes.ts';
import { COMMAND_ROWS } from '../../src/commands/tree.ts';
import { runMain, startMain } from '../support/run-main.ts';

async function run(...argv: string[]) {
  return runMain(argv);
}

describe('vloc without a command', () => {
  it('shows the help on stdout and succeeds', async () => {
    const { code, stdout, stderr } = await run();
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const row of COMMAND_ROWS) expect(stdout).toContain(`${row.name} `);
  });
});

describe('vloc help', () => {
  it('shows the same for `localize --help` and `help localize`', async () => {
    const asked = await run('localize', '--help');
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain('--subtitle-output <choice>');
    expect((await run('help', 'localize')).stdout).toBe(asked.stdout);
  });

  it('wraps every paragraph to the width of the page, and no example', async () => {
    const { stdout } = await run('localize', '--help');
    const wide = stdout.split('\n').filter((line) => line.length > 100 && !/^ {2}[#$] /.test(line));
    expect(wide).toEqual([]);
    expect(stdout).toContain('With --stop-after');
  });

  it('lists every exit code', async () => {
    const { stdout } = await run('help', 'exit-codes');
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 129, 130, 143])
      expect(stdout).toMatch(new RegExp(`^ +${code} `, 'm'));
  });

  it('wraps the meanings of variables to 80 columns, below each other', async () => {
    const { stdout } = await run('help', 'environment');
    const rows = stdout.trimEnd().split('\n');
    expect(rows.filter((row) => row.length > 80)).toEqual([]);
    expect(stdout).toMatch(/^ {20,}\S/m);
  });

  it('lists the available topics if it does not know one', async () => {
    const { code, stderr } = await run('help', 'weather');
    expect(code).toBe(2);
    expect(stderr).toContain('exit-codes, environment');
  });
});

it.each([
  ['SIGINT', 'SIGINT', [130]],
  ['SIGHUP', 'SIGTERM', [143]],
  // A terminal that closes sends it twice, and systemd after its SIGTERM.
  ['SIGHUP', 'SIGHUP', []],
  ['SIGTERM', 'SIGHUP', []],
] as const)('%s, then %s exits immediately with %j', async (first, second, abandoned) => {
  const running = startMain(['schema', '--jq', 'def f: f; f']);
  running.send(first);
  running.send(second);
  expect(running.abandoned).toEqual(abandoned);
  expect(await running.ended).toEqual({ code: EXIT_CODES[first].code, stdout: '', stderr: '' });
});

describe('local checks', () => {
  it('report everything that is wrong together, before anything is sent', async () => {
    const words = ['localize', 'missing.mp4', 'http://example.com/a.mp4', '--to', 'nonsense_tag'];
    const { code, stderr } = await runMain(words, { env: { VLOC_STATE_DIR: '/nonexistent/never/made' } });
    expect(code).toBe(2);
    for (const said of [
      '3 problems found; nothing was sent',
      'missing.mp4: there is no such file',
      'https addresses only',
      '--to: not a BCP 47 language tag: nonsense_tag',
    ]) {
      expect(stderr).toContain(said);
    }
  });
});
