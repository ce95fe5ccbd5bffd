/** Loss of power: an ext4 that stops in its tracks, with what was not written through to it gone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from './audit.ts';
import { comeToRest } from './kills.ts';
import { runLoad } from './load.ts';
import { auditChildren } from './orphans.ts';
import { makeWorld, type World } from './world.ts';

const DISK = '128m';
const LONGEST_MS = 1500;
/** EXT4_IOC_SHUTDOWN with NOLOGFLUSH: not even the journal in memory is written. Node has no ioctl. */
const SHUT_DOWN = `
import fcntl, os, struct, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.ioctl(folder, 0x8004587d, struct.pack('I', 2))`;

/** A file that is mounted as a disk; `null` where this machine does not let us. */
export interface Disk {
  readonly folder: string;
  /** Everything that was not written through is gone. */
  lose(): void;
  /** The power comes back. */
  mountAgain(): void;
  close(): void;
}

export function makeDisk(): Disk | null {
  const root = mkdtempSync(join(tmpdir(), 'vloc-power-'));
  const [image, folder] = [join(root, 'disk'), join(root, 'mount')];
  mkdirSync(folder);
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });
  const mount = () => run('mount', '-o', 'loop', image, folder);
  try {
    run('truncate', '-s', DISK, image);
    run('mkfs.ext4', '-q', '-F', image);
    mount();
  } catch {
    rmSync(root, { recursive: true, force: true });
    return null;
  }
  return {
    folder,
    lose: () => run('python3', '-c', SHUT_DOWN, folder),
    mountAgain() {
      run('umount', folder);
      mount();
      // A process with mounts of its own, made meanwhile, keeps the dead file system alive.
      const stillDead = readFileSync('/proc/mounts', 'utf8').includes(`${folder} ext4 rw,relatime,shutdown`);
      if (stillDead) throw new Error('something else on this machine holds the disk; run this part alone');
    },
    close() {
      run('umount', folder);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Runs so many losses of power under load. Nonces need not survive them, so they are not tried again. */
export async function runPower(
  seed: number,
  losses: number,
  disk: Disk,
  report: (done: number) => void,
): Promise<World> {
  const world = await makeWorld({ seed, stateDir: join(disk.folder, 'state') });
  for (let done = 0; done < losses; done += 1) {
    const life = world.start({ engines: 'quick' });
    const voice = await life.ready;
    if (voice === null) throw new Error('the service ended before it listened');
    const load = runLoad(world, life, voice);
    await sleep(world.random.between(0, LONGEST_MS));
    // Nothing may be answered between the loss and the kill: the caller would believe what the disk does not know.
    process.kill(voice.pid, 'SIGSTOP');
    disk.lose();
    await life.kill();
    await load;
    world.book.spent.length = 0;
    // A child that is still ending works in a folder of the disk.
    await auditChildren(world);
    disk.mountAgain();
    world.end(life);
    world.book.counts.kills += 1;
    audit(world);
    await comeToRest(world, false);
    report(done + 1);
  }
  return world;
}
