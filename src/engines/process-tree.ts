/** Ends whole trees of processes: each child leads a process group of its own, so that a shell pipeline goes with it. */

/** Time for a clean end before the group is killed; cancelling must be over within 2 s. */
const GRACE_MS = 1_200;

const running = new Set<number>();
let watching = false;

/** Remembers a group so that it is killed when this process exits. The returned function forgets it. */
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

/** Asks a group to end and kills what is left of it after a grace of 1.2 s. */
export function endTree(leader: number): void {
  signalTree(leader, 'SIGTERM');
  setTimeout(() => signalTree(leader, 'SIGKILL'), GRACE_MS).unref();
}

function signalTree(leader: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no process groups: there the child alone is ended.
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
  } catch {
    // Every process of the group has ended already.
  }
}
