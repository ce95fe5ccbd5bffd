/** Ends whole process trees: each child leads its own process group, which includes shell pipelines. */

/** Time for a clean exit before the group is killed. Cancelling must take less than 2 s. */
const GRACE_MS = 1_200;

const running = new Set<number>();
let watching = false;

/** Registers a group to be killed when this process exits. Returns a function that removes the registration. */
export function trackTree(leader: number): () => void {
  if (!watching) {
    watching = true;
    process.once('exit', () => {
      for (const pid of running) signalTree(pid, 'SIGKILL');
    });
  }
  running.add(leader);
  return () => running.delete(leader);
}

/** Asks a group to exit and kills the remaining processes after 1.2 s. */
export function endTree(leader: number): void {
  signalTree(leader, 'SIGTERM');
  setTimeout(() => signalTree(leader, 'SIGKILL'), GRACE_MS).unref();
}

/** Kills what is left of a group after its leader has ended. */
export function endRest(leader: number): void {
  signalTree(leader, 'SIGKILL');
}

function signalTree(leader: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no process groups, so only the child is ended.
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
  } catch {
    // All processes of the group have already ended.
  }
}
