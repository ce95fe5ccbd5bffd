/** The script for PowerShell; run where there is one, and read closely everywhere. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkLines, openPackedDesk, readOffered } from './cases.ts';
import { type Desk, missingShell, runShell, scriptPath } from './desk.ts';

const missing = missingShell('pwsh');
const script = readFileSync(scriptPath('vloc.ps1'), 'utf8');
let desk: Desk;
beforeAll(async () => {
  desk = await openPackedDesk();
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

it('PowerShell offers commands, options, choices and values of this machine, and nothing else', async ({
  skip,
}) => {
  skip(missing !== null, 'pwsh is not installed');
  await checkLines(async (lines) => complete(lines));
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
});
