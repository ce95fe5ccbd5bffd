/** A folder to complete in: files, a profile, an engine, two jobs and an upload on record. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { openUploadRecord } from '../../../src/batch/records/upload-record.ts';

const HOUR_MS = 3_600_000;

export interface Desk {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

export function scriptPath(name: string): string {
  return fileURLToPath(new URL(`../../../completions/${name}`, import.meta.url));
}

/** Why tests in that shell cannot run, or null. */
export function missingShell(name: string): string | null {
  const isThere = spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
  return isThere ? null : `${name} is not installed: apt-get install ${name}`;
}

/** @param program the vloc on its PATH, if shells ask there */
export async function openDesk(program?: string): Promise<Desk> {
  const root = mkdtempSync(join(tmpdir(), 'completion-'));
  const at = (name: string) => join(root, name);
  for (const name of ['bin', 'config', 'work']) mkdirSync(at(name));
  writeFileSync(at('work/talk.srt'), '');
  writeFileSync(at('work/my file.srt'), '');
  mkdirSync(at('work/lessons'));
  if (program !== undefined) symlinkSync(program, at('bin/vloc'));
  writeFileSync(at('config/profiles.json'), JSON.stringify(PROFILES), { mode: 0o600 });
  writeFileSync(at('config/own-engines.json'), JSON.stringify(ENGINES), { mode: 0o600 });
  await writeRecords(at('state'));
  const env = {
    PATH: `${at('bin')}:${process.env.PATH ?? ''}`,
    HOME: at('work'),
    LANG: 'C.UTF-8',
    VLOC_CONFIG_DIR: at('config'),
    VLOC_ENGINES: at('config/own-engines.json'),
    VLOC_STATE_DIR: at('state'),
  };
  return { folder: at('work'), env, remove: () => rmSync(root, { recursive: true, force: true }) };
}

const PROFILES = {
  version: 1,
  profiles: [
    {
      name: 'staging',
      base_url: 'https://staging.example.com/v1',
      key: 'key',
      secret: { type: 'file', value: 'secret' },
    },
  ],
};

const ENGINES = { translate: [{ type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'qwen3:4b' }] };

async function writeRecords(stateDir: string): Promise<void> {
  const jobs = openJobRecord(stateDir, 'p', Date.now);
  const job = (id: string, kind: 'dubbing' | 'auto_localization', agoMs: number) => ({
    id,
    kind,
    created_at: new Date(Date.now() - agoMs).toISOString(),
    client_reference: null,
    command: 'test',
    inputs: ['/videos/talk.mp4'],
    output_folder: null,
  });
  await jobs.add(job('loc_older', 'auto_localization', 2 * HOUR_MS));
  await jobs.add(job('dub_newer', 'dubbing', HOUR_MS));
  // A hostile service: an id that a shell would run.
  await jobs.add(job('$(touch ran)', 'dubbing', HOUR_MS));
  await openUploadRecord(stateDir, 'p', Date.now).add({
    sha256: 'a'.repeat(64),
    size: 10,
    upload_id: 'upl_here',
    purpose: 'source_video',
    ready_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + HOUR_MS).toISOString(),
  });
}

/** Runs a shell with arguments on the desk and returns what it prints. */
export function runShell(desk: Desk, shell: string, args: readonly string[]): string {
  return execFileSync(shell, args, {
    cwd: desk.folder,
    env: { TERM: 'xterm', ...desk.env },
    encoding: 'utf8',
    // A shell that waits for a key would wait forever.
    timeout: 110_000,
  });
}
