/** Memory of all Node processes while the longest video that the service accepts is processed. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, NODE_MEMORY_MIB } from './figure.ts';
import { CLEAN_ENV } from './measure.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** One second under the limit of 15 minutes: looped sound ends slightly after the picture. */
const SECONDS = 899;
const SHORT_SECONDS = 3;
/** The sample of 31 s, then silence: memory depends on the length of the sound, time on how much is spoken. */
const QUIET_FOR_THREE_QUARTERS = "volume='lt(mod(t,123),31)':eval=frame";
const POLL_MS = 200;

export async function measureLongVideo(isShort: boolean): Promise<readonly Figure[]> {
  const seconds = isShort ? SHORT_SECONDS : SECONDS;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const video = join(folder, 'long.mp4');
  const loop = ['-nostdin', '-v', 'error', '-stream_loop', '-1', '-i', here('../test/fixtures/sample.mp4')];
  const sound = ['-af', QUIET_FOR_THREE_QUARTERS, '-c:a', 'aac'];
  execFileSync('ffmpeg', [...loop, '-t', String(seconds), '-c:v', 'copy', ...sound, video]);
  try {
    const peak = await peakOf(
      [here('../bin/vloc.js'), 'localize', video, '--to', 'es', '--out', folder],
      join(folder, 'state'),
    );
    return [
      {
        name: `memory of all Node processes while ${seconds} s are localized`,
        value: peak,
        limit: { atMost: 400 },
        unit: 'MiB',
        plausible: NODE_MEMORY_MIB,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function peakOf(args: readonly string[], stateDir: string): Promise<number> {
  const child = spawn(process.execPath, args, {
    env: { ...CLEAN_ENV, VLOC_PROFILE: 'local', VLOC_STATE_DIR: stateDir },
    stdio: 'ignore',
  });
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMiB(child.pid ?? -1));
  }, POLL_MS);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`the localization ended with ${code}`);
  return peak;
}

/** Resident memory of a process and all its descendants that run Node (Linux). */
function residentMiB(root: number): number {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? read(`/proc/${entry}/stat`) : '';
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  const nodes = [...parents.keys()].filter((pid) => isBelow(pid) && runsNode(pid));
  return nodes.reduce(
    (sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024,
    0,
  );
}

function runsNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe');
  } catch {
    return false; // it has just ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
