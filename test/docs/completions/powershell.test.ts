/** The script for PowerShell; run where there is one, and read closely everywhere. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPlaces } from '../../../docs/completions/model.ts';
import { powershellScript } from '../../../docs/completions/powershell.ts';
import { listFlagValues, placeName } from '../../../docs/completions/tables.ts';
import { EXACT, listCases, missingFrom, readOffered } from './cases.ts';
import { type Desk, missingShell, openDesk, runShell, scriptPath } from './desk.ts';

const missing = missingShell('pwsh');
const script = readFileSync(scriptPath('vloc.ps1'), 'utf8');
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.remove());

function complete(lines: readonly string[]): Map<string, string[]> {
  const list = lines.map((line) => `'${line.replaceAll("'", "''")}'`).join(',');
  const driver = `. '${scriptPath('vloc.ps1')}'
foreach ($line in @(${list})) {
  "COMPLETED $line"
  (TabExpansion2 -inputScript $line -cursorColumn $line.Length).CompletionMatches | ForEach-Object { $_.CompletionText }
}`;
  return readOffered(runShell(desk, 'pwsh', ['-NoProfile', '-NonInteractive', '-Command', driver]));
}

it('PowerShell offers every command, option, choice and value of this machine', async ({ skip }) => {
  skip(missing !== null, 'pwsh is not installed');
  // A leading @ is an operator there; files are left to PowerShell.
  const cases = (await listCases()).filter(({ line }) => !line.includes('@'));
  const offered = complete([...cases, ...EXACT].map(({ line }) => line));
  expect(missingFrom(offered, cases)).toEqual([]);
});

/** Everything outside of quoted text and comments. */
function codeOf(text: string): string {
  return text.replace(/'(?:[^']|'')*'|"(?:[^"`]|`.)*"|#.*$/gm, (found) =>
    found.startsWith('#') ? '' : "''",
  );
}

describe('the script for PowerShell', () => {
  it('is one completer, for vloc', () => {
    expect(script.match(/^Register-ArgumentCompleter.*/gm)).toEqual([
      'Register-ArgumentCompleter -Native -CommandName vloc -ScriptBlock {',
    ]);
  });

  it('is ASCII, because PowerShell 5.1 reads a file without a byte order mark in the code page of the system', () => {
    expect(script).toMatch(/^[\n -~]*$/);
  });

  it('escapes what would end a text or be expanded in one', () => {
    const child = { word: 'sing', explains: 'it\'s \u2018here\u2019 for $HOME, `so` "to" speak' };
    const place = { words: [], explains: '', children: [child], options: [], operands: null };
    expect(powershellScript([place])).toContain(
      "@(,@('sing', 'it''s \u2018\u2018here\u2019\u2019 for $HOME, `so` \"to\" speak'))",
    );
  });

  it('closes every quote and every bracket that it opens', () => {
    const code = codeOf(script);
    const open: string[] = [];
    const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
    for (const sign of code.replaceAll("''", '')) {
      if ('([{'.includes(sign)) open.push(sign);
      if (sign in pairs) expect(open.pop()).toBe(pairs[sign]);
      expect(`'"`).not.toContain(sign);
    }
    expect(open).toEqual([]);
  });

  it('has a table for every position with its commands and options', async () => {
    for (const place of await listPlaces()) {
      const start = script.indexOf(`$places['${placeName(place)}'] = @{`);
      expect(start, placeName(place)).toBeGreaterThan(0);
      const table = script.slice(start, script.indexOf('\n    }', start));
      for (const { word } of place.children) expect(table).toContain(`@('${word}', `);
      for (const { long } of place.options) expect(table).toContain(`@('${long}', `);
    }
  });

  it('knows the values of every option', async () => {
    for (const { flag, places } of listFlagValues(await listPlaces())) {
      for (const name of places ?? ['*']) expect(script).toContain(`$values['${name} ${flag}'] = '`);
    }
  });

  it('writes a list of one as a list', () => {
    expect(script).not.toMatch(/= @\(@\('[^']*', '(?:[^']|'')*'\)\)$/m);
  });
});
