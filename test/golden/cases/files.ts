/** Files that cases read, and what several tables make before a line runs. */
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { type Scene, startScene, until } from '../../service/harness/scene.ts';
import { createSmallEngines, videoOf } from '../../service/harness/small-engines.ts';
import type { Stage } from '../stage.ts';

export const SRT = '1\n00:00:00,000 --> 00:00:02,000\nhello\n';
export const VIDEO = videoOf(60);
export const FILES = { 'a.srt': SRT };
export const TRANSLATE = 'translate a.srt --from en --to es';

/** Runs a command line that belongs to what is there before; it ends with this code. */
export async function prepare(stage: Stage, line: string, expected = 0): Promise<void> {
  const { code, stderr } = await stage.run(line);
  if (code !== expected) throw new Error(`vloc ${line} ended with ${code}, not with ${expected}: ${stderr}`);
}

/** A folder `out` with one item that is done and one that failed. */
export async function makeBatch(
  stage: Stage,
  code: 'SOURCE_UNREACHABLE' | 'SUBTITLE_INVALID',
): Promise<void> {
  await stage.write('in/a.srt', SRT);
  await prepare(stage, 'translate in --from en --to es --out out');
  await stage.write('in/b.srt', SRT.replace('hello', 'bye'));
  stage.engines.failNext(new JobFailure(code, 'it broke'));
  await prepare(stage, 'translate in --from en --to es --out out --skip-existing', 3);
}

/** The id of a new job. */
export async function makeJob(stage: Stage, options = ''): Promise<string> {
  await stage.write('job.srt', SRT);
  const { stdout, stderr } = await stage.run(`translate job.srt --from en --to es --detach -o id ${options}`);
  if (stdout === '') throw new Error(stderr);
  return stdout.trim();
}

/** Until an engine is at work on this job, and has said so. */
export async function untilHeld(stage: Stage, id: string): Promise<void> {
  await until(
    () => stage.run(`jobs get ${id} --fields status,progress -o plain`),
    ({ stdout }) => /processing\s+25/.test(stdout),
  );
}

/** Until the service has this job in this state. */
export async function untilStatus(stage: Stage, id: string, status: string): Promise<void> {
  await until(
    () => stage.run(`jobs get ${id} --fields status -o plain`),
    ({ stdout }) => stdout.includes(status),
  );
}

/** Another service for this case alone, for what would change the shared one. */
export async function useOwnService(
  stage: Stage,
  options: Parameters<typeof startScene>[0] = {},
): Promise<Scene> {
  const scene = await startScene({ engines: createSmallEngines(), ...options });
  stage.env.VLOC_BASE_URL = scene.service.url;
  stage.env.VLOC_KEY = scene.credentials.key;
  stage.env.VLOC_SECRET = scene.credentials.secret;
  stage.hide(scene.credentials.key, 'vk_KEY');
  stage.hide(scene.credentials.secret, 'SECRET');
  return scene;
}
