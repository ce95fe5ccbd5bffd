/** What is made from the tables. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { manualPage } from '../../docs/manual-page.ts';
import { EXIT_CODES } from '../../src/base/exit-codes.ts';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { ENVIRONMENT } from '../../src/profiles/environment.ts';

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

it('the committed files match the tables', () => {
  const { status, stderr } = spawnSync(process.execPath, [pathOf('docs/generate.ts'), '--check'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

const hasMan = spawnSync('mandoc', ['-h'], { stdio: 'ignore' }).error === undefined;
const hasGroff = spawnSync('groff', ['--version'], { stdio: 'ignore' }).error === undefined;

describe('the manual page', () => {
  let page: string;
  /** As troff shows it: hyphens are written `\-` in the source. */
  let source: string;
  beforeAll(async () => {
    page = await manualPage();
    source = page.replaceAll('\\-', '-');
  });

  it('has every command with its options and examples', async () => {
    for (const { words, leaf } of COMMANDS) {
      const start = source.indexOf(`.SS vloc ${words.join(' ')}`);
      expect(start, words.join(' ')).toBeGreaterThan(0);
      const end = source.slice(start + 1).search(/^\.S[SH] /m);
      const section = source.slice(start, start + 1 + end);
      for (const name of Object.keys((await leaf.load()).options)) expect(section).toContain(flagName(name));
    }
  });

  it('has every exit code and every variable', () => {
    for (const { code } of Object.values(EXIT_CODES)) expect(source).toContain(`\\fB${code}\\fR`);
    for (const name of Object.keys(ENVIRONMENT)) expect(source).toContain(`\\fB${name}\\fR`);
  });

  it('is clean for mandoc', ({ skip }) => {
    skip(!hasMan, 'mandoc is not installed: apt-get install mandoc');
    const lint = spawnSync('mandoc', ['-T', 'lint', '-W', 'all'], { input: page, encoding: 'utf8' });
    expect(lint.stdout).toBe('');
  });

  it('is clean for groff, which prints what a shell can run', ({ skip }) => {
    skip(!hasGroff, 'groff is not installed: apt-get install groff');
    const { stdout, stderr } = spawnSync('groff', ['-ww', '-man', '-T', 'utf8', '-P', '-cbou'], {
      input: page,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toContain('vloc localize talk.mp4 --to es');
    expect(stdout).toContain("vloc jobs list --all --jq '.");
  });
});
