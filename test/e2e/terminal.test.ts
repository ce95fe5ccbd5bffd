/** The tool in a person's hands: on a terminal, interrupted, continued, and on a pipe that closes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ffmpeg } from '../engines/workspace.ts';
import { openTerminal, type TerminalSession } from '../support/pseudo-terminal.ts';
import { type Installation, openInstallation, SAMPLE } from './packed.ts';

let vloc: Installation;
beforeAll(async () => {
  vloc = await openInstallation();
  // Long enough to be interrupted while the voice is separated.
  ffmpeg('-i', SAMPLE, '-t', '4', '-c', 'copy', join(vloc.folder, 'short.mp4'));
});
afterAll(() => vloc.remove());

const open = (commandLine: string): TerminalSession =>
  openTerminal(commandLine.replace(/^vloc/, `"${vloc.program}"`), vloc.folder, { ...vloc.env });

describe('Ctrl-C while a job runs', () => {
  let session: TerminalSession;
  beforeAll(async () => {
    session = open('vloc localize short.mp4 --to es');
    await session.see('separating');
    session.type('\x03');
    await session.ended;
  });

  it('ends with 130', async () => {
    expect(await session.ended).toBe(130);
  });

  it('has drawn a bar, and restores the cursor', () => {
    expect(session.screen()).toContain('────');
    expect(session.hasRestoredCursor()).toBe(true);
  });

  it('prints the command that continues, and that command gets the result', async () => {
    const shown = stripVTControlCharacters(session.screen());
    const command = /^ +(vloc jobs wait .*)$/m.exec(shown)?.[1]?.trim() ?? '';
    const continued = open(`${command} --output plain`);
    expect(await continued.ended, continued.screen()).toBe(0);
    expect(existsSync(join(vloc.folder, 'short.es.mp4'))).toBe(true);
  });
});

describe('a reader that closes the pipe early', () => {
  it('is not a failure: the help through `head -1` ends with 0 and without a message', async () => {
    const session = open(`bash -c 'set -o pipefail; "${vloc.program}" localize --help | head -1'`);
    expect(await session.ended).toBe(0);
    expect(session.screen().trim()).toBe('Usage: vloc localize [options] [input...]');
  });
});
